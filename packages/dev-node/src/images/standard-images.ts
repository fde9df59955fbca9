import { readFile } from "node:fs/promises";
import { runCommand } from "../processes.ts";
import { buildImageArchive, type ImageArchive, type ImageSpec } from "./oci-archive.ts";
import { createPauseProgram, type ImageArch } from "./pause-program.ts";
import type { TarEntry } from "./tar.ts";

/**
 * The names of the images that every development node has.
 * Tag "1" is for tests and examples, since ":latest" means imagePullPolicy Always to Kubernetes.
 */
export const standardImages = {
  /** The sandbox image. */
  pause: "localhost/pause:1",
  /** A static busybox with a link for each of its programs; runs `sh`. */
  busybox: "localhost/busybox:1",
  /** busybox that serves a page on port 8080 as user 65534, and ends at once on SIGTERM. */
  app: "localhost/app:1",
} as const;

/**
 * Makes the standard images from a static busybox and this process's own architecture.
 * busybox is also named by its own version ("localhost/busybox:1.35") and "localhost/busybox:latest".
 */
export async function buildImages(options: { busybox: string }): Promise<ImageArchive> {
  const arch: ImageArch = process.arch === "arm64" ? "arm64" : "x64";
  const program = await readFile(options.busybox);
  const applets = (await runCommand([options.busybox, "--list-full"])).stdout.split("\n").filter(Boolean);
  const version = /v(\d+\.\d+)/.exec((await runCommand([options.busybox])).stdout)?.[1];
  return buildImageArchive(describeStandardImages({ arch, program, applets, version }));
}

function describeStandardImages(input: {
  arch: ImageArch;
  program: Uint8Array;
  /** Paths without a leading slash: "bin/sh". */
  applets: readonly string[];
  version: string | undefined;
}): ImageSpec[] {
  const { arch } = input;
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const base = describeBusyboxLayer(input.program, input.applets);
  const versionName = input.version === undefined ? [] : [`localhost/busybox:${input.version}`];
  return [
    {
      names: [standardImages.pause],
      arch,
      config: { Entrypoint: ["/pause"] },
      layers: [[{ path: "pause", mode: 0o755, data: createPauseProgram(arch) }]],
    },
    {
      names: [standardImages.busybox, ...versionName, "localhost/busybox:latest"],
      arch,
      config: { Env: [path], Cmd: ["sh"] },
      layers: [base],
    },
    {
      names: [standardImages.app],
      arch,
      config: {
        User: "65534:65534",
        Env: [path],
        Entrypoint: ["/app/serve"],
        Cmd: ["8080"],
        WorkingDir: "/app/www",
        ExposedPorts: { "8080/tcp": {} },
      },
      layers: [base, describeAppLayer()],
    },
  ];
}

function describeBusyboxLayer(program: Uint8Array, applets: readonly string[]): TarEntry[] {
  const folders = [
    "bin/",
    "etc/",
    "home/",
    "proc/",
    "root/",
    "sbin/",
    "sys/",
    "dev/",
    "usr/",
    "usr/bin/",
    "usr/sbin/",
    "var/",
  ];
  const text = (content: string): Uint8Array => Buffer.from(content);
  const links = [...new Set(applets)]
    .filter((applet) => applet !== "bin/busybox" && folders.includes(applet.replace(/[^/]*$/, "")))
    .sort();
  return [
    ...folders.map((path) => ({ path, mode: path === "root/" ? 0o700 : 0o755 })),
    { path: "tmp/", mode: 0o1777 },
    { path: "var/www/", mode: 0o755 },
    { path: "bin/busybox", mode: 0o755, data: program },
    ...links.map((path) => ({ path, mode: 0o777, linkTarget: "/bin/busybox" })),
    {
      path: "etc/passwd",
      mode: 0o644,
      data: text(
        "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n",
      ),
    },
    { path: "etc/group", mode: 0o644, data: text("root:x:0:\nuser:x:1000:\nextra:x:2000:user\nnobody:x:65534:\n") },
  ];
}

/** As process 1 busybox's web server would not end on SIGTERM, so a shell stands before it and passes the end on. */
function describeAppLayer(): TarEntry[] {
  const serve = `#!/bin/sh
# serve PORT: serves this folder until SIGTERM or SIGINT.
trap 'kill "$server"; exit 0' TERM INT
httpd -f -p "$1" -h /app/www &
server=$!
wait "$server"
`;
  return [
    { path: "app/", mode: 0o755 },
    { path: "app/www/", mode: 0o755 },
    { path: "app/serve", mode: 0o755, data: Buffer.from(serve) },
    { path: "app/www/index.html", mode: 0o644, data: Buffer.from("hello from a pod that nodelet runs\n") },
  ];
}
