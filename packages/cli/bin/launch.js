// Plain JavaScript that any Node.js can read: it checks the version, then loads the program.
// The program is the bundle (dist/nodelet.js) when it is built, else the sources (src/main.ts), which need Node.js to
// resolve the workspace packages to their sources. Both run when they are imported and read process.argv themselves;
// the name they were called by is that of process.argv[1].
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FLOOR = { major: 22, minor: 18 };
const SOURCE_CONDITION = "--conditions=nodelet-source";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < FLOOR.major || (major === FLOOR.major && minor < FLOOR.minor)) {
  process.stderr.write(
    `nodelet needs Node.js ${FLOOR.major}.${FLOOR.minor} or newer, and ${process.execPath} is ${process.versions.node}.\n` +
      "Start it with a newer one, or install the npm package node@24, which brings its own.\n",
  );
  process.exit(1);
}

// What makes the agent small, measured: no optimizing compilers (8 MB idle; an agent runs nothing so often that they pay: with them the
// start of 30 pods takes a fifth more CPU time; the baseline compiler remains), a young heap that
// never grows (3 MB and more with time), freed pages given back (30 MB after many pods started; without compiling
// anew each second what it would throw away, too), one arena of malloc for all threads (3 MB). Most must be known when the
// process begins, so it begins again, with the same id and arguments (40 ms).
const AGENT_FLAGS = [
  "--no-opt",
  "--no-maglev",
  "--max-semi-space-size=1",
  "--memory-saver-mode",
  "--no-flush-bytecode",
];
// The runtime's lists come as blocks of some 100 KB each second: as mappings of their own they leave no holes in malloc's heap, and
// its top is given back (10 MB with 90 pods, 4 MB with none).
const AGENT_ENVIRONMENT = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_TRIM_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "65536",
};
/** Commands and questions are over at once; everything else runs the agent. */
const runsAgent = !/^(?:[a-z]|--version\b|--help$|-h$)/.test(process.argv[2] ?? "");

const bundle = new URL("../dist/nodelet.js", import.meta.url);
const sources = new URL("../src/main.ts", import.meta.url);
const sourcesWanted = process.execArgv.includes(SOURCE_CONDITION);

if (!sourcesWanted && existsSync(bundle)) {
  const missing = AGENT_FLAGS.filter((flag) => !process.execArgv.includes(flag));
  if (runsAgent && missing.length > 0 && process.platform === "linux") restart(missing, AGENT_ENVIRONMENT);
  await import(bundle.href);
} else if (!existsSync(sources)) {
  process.stderr.write(`nodelet is not complete: neither ${fileURLToPath(bundle)} nor its sources are there.\n`);
  process.exit(1);
} else if (sourcesWanted) {
  await import(sources.href);
} else {
  restart([SOURCE_CONDITION], {});
}

/** Same process id, same arguments, more flags and environment. What the environment says already wins. */
function restart(flags, environment) {
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...environment, ...process.env });
}
