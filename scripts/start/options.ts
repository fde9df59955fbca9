import { parseArgs } from "node:util";
import { StartProblem } from "./demo-node.ts";

/** What `npm start -- ...` was asked for. */
export interface StartOptions {
  readonly simulate: boolean;
  /** End once every pod was Ready, after taking everything down. */
  readonly exitWhenReady: boolean;
  /** A runtime that runs already, as `unix:///...`; a private containerd when absent. */
  readonly runtimeEndpoint: string | undefined;
  /** A directory of manifests, or one. */
  readonly manifests: string | undefined;
  /** Family of the private containerd. */
  readonly containerd: "1.6" | "2.1";
  readonly help: boolean;
}

/** For --help. */
export const usage = `npm start -- [options]      runs the example pods on a private containerd and shows them until Ctrl-C

  --simulate                run them on the in-memory runtime: no root, no Linux, no containers
  --exit-when-ready         end by itself once every pod was Ready and everything is taken down again
  --runtime-endpoint URL    use a containerd that runs already (unix:///run/containerd/containerd.sock)
  --containerd VERSION      family of the private containerd: 2.1 (default) or 1.6
  --manifests PATH          run these pods in place of examples/pods
`;

/** Reads the arguments. Throws a StartProblem that says what is wrong. */
export function readOptions(args: readonly string[]): StartOptions {
  const { values } = parse(args);
  const containerd = values.containerd;
  if (containerd !== "2.1" && containerd !== "1.6")
    throw new StartProblem(`--containerd ${containerd}: expected 2.1 or 1.6`);
  const runtimeEndpoint = values["runtime-endpoint"];
  if (runtimeEndpoint !== undefined && values.simulate)
    throw new StartProblem("--simulate uses no runtime: leave --runtime-endpoint out");
  return {
    simulate: values.simulate,
    exitWhenReady: values["exit-when-ready"],
    runtimeEndpoint,
    manifests: values.manifests,
    containerd,
    help: values.help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        simulate: { type: "boolean", default: false },
        "exit-when-ready": { type: "boolean", default: false },
        "runtime-endpoint": { type: "string" },
        manifests: { type: "string" },
        containerd: { type: "string", default: "2.1" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new StartProblem(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}
