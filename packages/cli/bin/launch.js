// Plain JavaScript that any Node.js can read: it checks the version, then loads the program.
// The program is the bundle (dist/nodelet.js) when it is built, else the sources (src/main.ts), which need Node.js to
// resolve the workspace packages to their sources. Both run when they are imported and read process.argv themselves;
// the name they were called by is that of process.argv[1].
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

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

// The young heap stays at its first size: the agent allocates little at a time, and grown semi-spaces are never given
// back. Unlike --max-semi-space-size this takes effect in a process that already runs.
setFlagsFromString("--semi-space-growth-factor=1");

const bundle = new URL("../dist/nodelet.js", import.meta.url);
const sources = new URL("../src/main.ts", import.meta.url);
const sourcesWanted = process.execArgv.includes(SOURCE_CONDITION);

if (!sourcesWanted && existsSync(bundle)) {
  await import(bundle.href);
} else if (!existsSync(sources)) {
  process.stderr.write(`nodelet is not complete: neither ${fileURLToPath(bundle)} nor its sources are there.\n`);
  process.exit(1);
} else if (sourcesWanted) {
  await import(sources.href);
} else {
  // Same process id, same arguments, one more flag.
  process.execve(process.execPath, [process.execPath, SOURCE_CONDITION, ...process.execArgv, ...process.argv.slice(1)]);
}
