import { readFile, writeFile } from "node:fs/promises";
import { prepareNode, standardImages } from "../index.ts";
import { readPodIp, removeRawPod, startRawPod } from "../raw-pod.test-support.ts";

/**
 * Runs inside a guest: `node pod-in-guest.test-support.ts VERSION`. Starts containerd with the systemd cgroup driver and
 * one pod, and writes what it saw to /share/report.json.
 */
const version = process.argv[2] === "1.6" ? "1.6" : "2.1";
const node = await prepareNode({ version, dir: "/run/node", systemdCgroup: true });
const start = performance.now();
const pod = await startRawPod(node.containerd, {
  uid: "g-1",
  image: standardImages.busybox,
  command: ["sh", "-c", "cat /proc/self/cgroup /proc/1/comm; exec httpd -f -p 8080 -h /etc"],
  logDir: "/run/pod-logs",
  cgroupParent: "nodelet-podg1.slice",
});
const startMs = performance.now() - start;
const ip = await readPodIp(node.containerd, pod);
const page = await fetchWhenUp(`http://${ip}:8080/passwd`);
const cgroup = `/sys/fs/cgroup/nodelet.slice/nodelet-podg1.slice/cri-containerd-${pod.containerId}.scope`;
const processes = await readFile(`${cgroup}/cgroup.procs`, "utf8");
await removeRawPod(node.containerd, pod);
const { record } = node.containerd;
const left = (await node.containerd.listLeftovers()).map(({ kind, what }) => `${kind} ${what}`);
await node.close();
const report = {
  version: node.containerd.version,
  snapshotter: node.containerd.snapshotter,
  startMs,
  ip,
  page,
  processes,
  left,
  dir: record.dir,
};
await writeFile("/share/report.json", JSON.stringify(report));

async function fetchWhenUp(url: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      if (attempt === 100) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
