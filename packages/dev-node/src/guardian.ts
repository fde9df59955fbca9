import { spawn } from "node:child_process";

/** Watches over what this process started; {@link Guardian.release} ends the watch. */
export interface Guardian {
  release(): void;
}

/**
 * Starts a shell that sleeps on a pipe from this process. When this process ends in any way, kill -9 included, the
 * kernel closes the pipe, and the shell turns into the given command. It costs no time while it waits.
 */
export function startGuardian(command: readonly [string, ...string[]]): Guardian {
  const script = 'read -r line; [ "$line" = done ] || exec "$@"';
  const child = spawn("/bin/sh", ["-c", script, "guardian", ...command], {
    stdio: ["pipe", "ignore", "ignore"],
    // A session of its own, so that Ctrl-C on the terminal does not reach it.
    detached: true,
    cwd: "/",
  });
  child.unref();
  // stdin of a child is a socket, but typed as a plain stream.
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") {
    child.stdin.unref();
  }
  child.stdin.on("error", () => {});
  child.on("error", () => {});
  return { release: () => child.stdin.end("done\n") };
}
