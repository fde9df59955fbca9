/** The Kubernetes release whose kubelet this program stands in for. */
export const KUBERNETES_VERSION = "v1.36.2";

/** This program's own version, that of its package. */
export const NODELET_VERSION = "0.1.0";

/** What `--version=raw` prints: the fields of Go's version.Info, with what is true of this program. */
function rawVersion(): string {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split(".");
  const platform = `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`;
  const fields: readonly (readonly [name: string, value: string])[] = [
    ["Major", major ?? ""],
    ["Minor", minor ?? ""],
    ["GitVersion", KUBERNETES_VERSION],
    ["Compiler", `nodelet ${NODELET_VERSION}, Node.js ${process.versions.node}`],
    ["Platform", platform],
  ];
  return `version.Info{${fields.map(([name, value]) => `${name}:${JSON.stringify(value)}`).join(", ")}}`;
}

/**
 * The answer to `--version` among the arguments, in any of its forms (`--version`, `=true`, `=raw`), or undefined when it is not asked for.
 * Throws an Error for a form that is none.
 */
export function answerToVersion(args: readonly string[]): string | undefined {
  const end = args.indexOf("--");
  const asked = (end < 0 ? args : args.slice(0, end)).filter((argument) => /^--version(?:=|$)/.test(argument)).at(-1);
  if (asked === undefined) return undefined;
  switch (asked.slice("--version=".length)) {
    case "":
    case "true":
      return `Kubernetes ${KUBERNETES_VERSION}`;
    case "raw":
      return rawVersion();
    case "false":
      return undefined;
    default:
      throw new Error(`${asked}: expected --version, --version=raw or --version=false`);
  }
}
