import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevNodeError, errnoOf, ignoringErrno } from "../errors.ts";
import { identifyProcess, type Log, runCommand } from "../processes.ts";
import { rewriteAptSources } from "./apt-sources.ts";
import { withFileLock } from "./file-lock.ts";

/** A set of Debian packages that is fetched and unpacked together. */
export interface PackageSet {
  /** Names the set's folder in the cache: "containerd-2.1". */
  key: string;
  /** Debian suite; undefined means the release that the machine runs. */
  suite?: string;
  packages: readonly string[];
  /** Also fetch what the packages depend on, as far as the machine has not got it. Default false. */
  withDependencies?: boolean;
  /** One clause for people, after "needed": "to run pods". */
  why: string;
}

/** Where a set lies. `root` holds the unpacked tree (`usr/bin/…`); `versions` maps package to Debian version. */
export interface UnpackedPackages {
  root: string;
  versions: Readonly<Record<string, string>>;
}

/**
 * Makes sure that a set is in the cache, fetching it with the machine's apt and unpacking it there (`dpkg -x`).
 * Nothing on the machine is installed, upgraded, removed or started; apt's own lists and status are not touched.
 * Signatures are checked by apt as always. Safe to call from several processes at once.
 */
export async function ensurePackages(
  set: PackageSet,
  options: { cacheDir: string; log: Log },
): Promise<UnpackedPackages> {
  const release = await readDebianRelease();
  const suite = set.suite ?? release;
  const root = join(options.cacheDir, `${suite}-${process.arch}`, set.key);
  const cached = await readVersions(root, set);
  if (cached !== undefined) {
    return { root, versions: cached };
  }
  return withFileLock({ path: `${root}.lock`, timeoutMs: 600_000, log: options.log }, async () => {
    const meanwhile = await readVersions(root, set);
    if (meanwhile !== undefined) {
      return { root, versions: meanwhile };
    }
    return { root, versions: await fetchPackages({ set, suite, release, root, ...options }) };
  });
}

const manifestName = "nodelet-packages.json";

async function readVersions(root: string, set: PackageSet): Promise<Record<string, string> | undefined> {
  const text = await ignoringErrno(["ENOENT"], () => readFile(join(root, manifestName), "utf8"));
  if (text === undefined) {
    return undefined;
  }
  const versions: Record<string, string> = {};
  for (const [name, version] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
    versions[name] = String(version);
  }
  return set.packages.every((name) => versions[name] !== undefined) ? versions : undefined;
}

interface FetchOptions {
  set: PackageSet;
  suite: string;
  release: string;
  root: string;
  cacheDir: string;
  log: Log;
}

async function fetchPackages(options: FetchOptions): Promise<Record<string, string>> {
  const { set, suite, root, log } = options;
  log(
    `missing: ${set.packages.join(", ")}, needed ${set.why}; fetching from Debian ${suite} into ${root} (the machine itself stays as it is)`,
  );
  await removeAbandoned(options.cacheDir);
  await mkdir(options.cacheDir, { recursive: true });
  const work = await mkdtemp(join(options.cacheDir, `tmp-${process.pid}-`));
  try {
    const apt = await preparePrivateApt({ work, ...options });
    const debs = join(work, "debs");
    const tree = join(work, "tree");
    await mkdir(debs);
    await mkdir(tree);
    const start = performance.now();
    await runApt(["update", ...apt], { cwd: debs, timeoutMs: 180_000, set });
    await runApt([...apt, ...describeFetch({ set, debs }), ...set.packages], { cwd: debs, timeoutMs: 600_000, set });
    const versions: Record<string, string> = {};
    let sizeBytes = 0;
    for (const file of (await readdir(debs)).filter((name) => name.endsWith(".deb")).sort()) {
      const path = join(debs, file);
      const shown = await runCommand(["dpkg-deb", "--show", path]);
      const [name = file, version = ""] = shown.stdout.trim().split("\t");
      versions[name] = version;
      sizeBytes += (await stat(path)).size;
      await runCommand(["dpkg-deb", "--extract", path, tree], { timeoutMs: 120_000 });
    }
    await writeFile(join(tree, manifestName), `${JSON.stringify(versions, undefined, 2)}\n`);
    await publish(tree, root);
    const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    log(`unpacked ${listed.join(", ")} (${(sizeBytes / 1e6).toFixed(1)} MB in ${seconds} s)`);
    return versions;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * With dependencies apt plans an installation by the machine's own package status, and stops after the download:
 * nothing is locked, installed or noted.
 */
function describeFetch(options: { set: PackageSet; debs: string }): string[] {
  if (options.set.withDependencies !== true) {
    return ["download"];
  }
  const settings = {
    "Dir::State::status": "/var/lib/dpkg/status",
    "Dir::Cache::archives": options.debs,
    "Debug::NoLocking": "1",
  };
  const flags = ["--download-only", "--no-install-recommends", "--yes"];
  return ["install", ...flags, ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

/** A set is in the cache wholly or not at all: the folder appears by one rename. */
async function publish(tree: string, root: string): Promise<void> {
  await rm(root, { recursive: true, force: true });
  await mkdir(join(root, ".."), { recursive: true });
  try {
    await rename(tree, root);
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") {
      throw error;
    }
  }
}

/** apt options for sources, lists, cache and package status of our own below `work`. */
async function preparePrivateApt(options: FetchOptions & { work: string }): Promise<string[]> {
  const directory = join(options.work, "apt");
  await mkdir(join(directory, "lists/partial"), { recursive: true });
  await mkdir(join(directory, "cache/archives/partial"), { recursive: true });
  await mkdir(join(directory, "parts"));
  const sources = rewriteAptSources({ files: await readAptSources(), codename: options.release, suite: options.suite });
  await writeFile(join(directory, "only.sources"), sources);
  await writeFile(join(directory, "status"), "");
  const settings = {
    "Dir::Etc::SourceList": join(directory, "only.sources"),
    "Dir::Etc::SourceParts": join(directory, "parts"),
    "Dir::State::Lists": join(directory, "lists"),
    "Dir::State::status": join(directory, "status"),
    "Dir::Cache": join(directory, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "3",
    // Our folders need not be open to the user that apt otherwise drops to.
    "APT::Sandbox::User": "root",
  };
  return ["-q", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

async function runApt(
  args: readonly string[],
  options: { cwd: string; timeoutMs: number; set: PackageSet },
): Promise<void> {
  try {
    await runCommand(["apt-get", ...args], { cwd: options.cwd, timeoutMs: options.timeoutMs });
  } catch (error) {
    const { packages, suite, why } = options.set;
    const by = suite === undefined ? "" : ` from Debian ${suite}`;
    const cause = error instanceof Error ? error.message : String(error);
    throw new DevNodeError(
      "tool",
      `cannot fetch ${packages.join(", ")}${by}, needed ${why}. Check the network and the apt sources, or install by hand: apt-get install ${packages.join(" ")}. ${cause}`,
      { cause: error },
    );
  }
}

async function readAptSources(): Promise<{ path: string; text: string }[]> {
  const parts = (await ignoringErrno(["ENOENT"], () => readdir("/etc/apt/sources.list.d"))) ?? [];
  const paths = [
    "/etc/apt/sources.list",
    ...parts.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join("/etc/apt/sources.list.d", name)),
  ];
  const files: { path: string; text: string }[] = [];
  for (const path of paths) {
    const text = await ignoringErrno(["ENOENT"], () => readFile(path, "utf8"));
    if (text !== undefined) {
      files.push({ path, text });
    }
  }
  return files;
}

/** The codename of the running Debian, or a `platform` error that says what to install by hand elsewhere. */
async function readDebianRelease(): Promise<string> {
  const text = (await ignoringErrno(["ENOENT"], () => readFile("/etc/os-release", "utf8"))) ?? "";
  const value = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] ?? "";
  const codename = value("VERSION_CODENAME");
  if (value("ID") !== "debian" || codename === "") {
    const what = value("PRETTY_NAME") || process.platform;
    throw new DevNodeError(
      "platform",
      `programs are fetched on Debian only, this is ${what}: install containerd (1.6 or 2.1), runc, the CNI plugins (in /usr/lib/cni or /opt/cni/bin) and a static busybox by hand`,
    );
  }
  return codename;
}

/** Removes work folders of processes that died while fetching. */
async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of (await ignoringErrno(["ENOENT"], () => readdir(cacheDir))) ?? []) {
    const pid = /^tmp-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && (await identifyProcess(Number(pid))) === undefined) {
      await rm(join(cacheDir, name), { recursive: true, force: true });
    }
  }
}
