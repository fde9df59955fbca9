// Makes a bare clone ready, then runs one of the repository's programs on the Node.js that the repository brings.
// Plain JavaScript for Node.js 20 and newer, with nothing but what Node.js has: it runs before anything is installed.
//
//     node scripts/bootstrap.js PROGRAM [arguments]
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const binFolder = join(root, "node_modules", ".bin");
const node = join(root, "node_modules", "node", "bin", "node");
const stampFile = join(root, "node_modules", ".nodelet-installed");

/** What the installed packages are made from: they are up to date while this is unchanged. */
function installDigest() {
  const digest = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) {
    digest.update(readFileSync(join(root, name)));
  }
  return digest.digest("hex");
}

function isInstalled(digest) {
  return existsSync(node) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === digest;
}

function install(digest) {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const why = existsSync(node) ? "pnpm-lock.yaml has changed" : "this clone has none yet";
  process.stderr.write(
    `Installing the packages that pnpm-lock.yaml names into node_modules/ (${why}), with ${packageManager} …\n`,
  );
  const args = ["install", "--frozen-lockfile", ...(process.stderr.isTTY ? [] : ["--reporter=append-only"])];
  const own = join(binFolder, "pnpm");
  const [program, programArgs] = existsSync(own) ? [own, args] : ["npx", ["--yes", packageManager, ...args]];
  const started = Date.now();
  // Everything that an installation says is progress, not the result of the program that comes after it, and it is said
  // even under `npm --silent`, which hands its silence on in the environment.
  const env = { ...process.env, CI: "true" };
  delete env.npm_config_loglevel;
  const result = spawnSync(program, programArgs, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env,
  });
  if (result.error || result.status !== 0) {
    const reason = result.error ? result.error.message : `exit code ${result.status}`;
    fail(
      `Installing the packages failed (${reason}); the lines above say why. It needs npm and a package registry that npm can reach.\n` +
        "If a package.json was changed without its lock file, run: npx --yes pnpm@10 install",
    );
  }
  if (!existsSync(node)) {
    fail(
      `The packages are installed, but ${node} is missing: was the install script of the package "node" allowed to run?`,
    );
  }
  writeFileSync(stampFile, digest);
  process.stderr.write(`Installed in ${Math.round((Date.now() - started) / 1000)} s.\n`);
}

/** Writes the generated sources; its program does nothing while what they are made from is unchanged. */
function generate(env) {
  const result = spawnSync(node, [join(root, "proto", "tools", "generate.ts")], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    env,
  });
  if (result.error || result.status !== 0) {
    fail("Generating the wire contracts (npm run generate) failed; the lines above say why.");
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function run(program, args, env) {
  const nodeArgs = ["--conditions=nodelet-source", join(root, program), ...args];
  if (process.execve) {
    process.execve(node, [node, ...nodeArgs], env);
  }
  const child = spawn(node, nodeArgs, { stdio: "inherit", env });
  // A terminal sends Ctrl-C to both; this process only waits for the other. A signal from elsewhere is passed on.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => fail(`${node} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = signal ? 128 + (signal === "SIGINT" ? 2 : 15) : code;
  });
}

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  fail("usage: node scripts/bootstrap.js PROGRAM [arguments]");
}
if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`This needs Node.js 20 or newer to begin with, and ${process.execPath} is ${process.versions.node}.`);
}
const digest = installDigest();
if (!isInstalled(digest)) {
  install(digest);
}
const env = {
  ...process.env,
  PATH: [join(root, "node_modules", "node", "bin"), binFolder, process.env.PATH ?? ""].join(delimiter),
};
generate(env);
if (!existsSync(join(root, program))) {
  fail(`${program} is not there.`);
}
run(program, args, env);
