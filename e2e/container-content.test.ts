import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { Pod } from "@nodelet/core";
import { standardImages } from "@nodelet/dev-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterDns, hostResolvConf } from "./harness/agent-under-test.ts";
import { containerLogPath, keepLog, readContainerLog } from "./harness/container-log.ts";
import { container, podManifest, shell } from "./harness/manifests.ts";
import { NodeUnderTest, stateOf } from "./harness/node-under-test.ts";

/** Prints what the test reads from the log, then stays. */
const says = (name: string, script: string, spec: Partial<Pod["spec"]> = {}): Pod =>
  podManifest(name, { containers: [container("main", shell(`${script}; echo END; exec sleep 3600`))], ...spec });

const manifests: readonly Pod[] = [
  podManifest("env", {
    containers: [
      container(
        "main",
        [
          "sh",
          "-c",
          `${["A", "B", "C", "D", "E", "F", "G"].map((each) => `echo "$${each}"`).join("; ")}; echo "$0 $1"; echo END; exec sleep 3600`,
        ],
        {
          args: ["$(B)", "$$(B)"],
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "$(A)-two" },
            { name: "C", value: "$$(A)" },
            { name: "D", value: "$(ABSENT)" },
            { name: "E", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
            { name: "F", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
            { name: "G", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } },
          ],
          resources: { limits: { memory: "48Mi" } },
        },
      ),
    ],
  }),
  podManifest("folder", {
    containers: [container("main", shell("pwd; echo END; exec sleep 3600"), { workingDir: "/var/www" })],
  }),
  podManifest("terminal", {
    containers: [
      container("main", shell("test -t 0 && test -t 1 && echo terminal; echo END; exec sleep 3600"), {
        tty: true,
        stdin: true,
      }),
    ],
  }),
  says("user", "id -u; id -g; id -G", {
    securityContext: { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000] },
  }),
  says("names", "hostname; cat /etc/hosts; echo ---; cat /etc/resolv.conf"),
  says("named", "hostname; cat /etc/hosts", {
    hostname: "box",
    subdomain: "shelf",
    hostAliases: [{ ip: "192.0.2.77", hostnames: ["a.example", "b.example"] }],
  }),
  says("host-dns", "cat /etc/resolv.conf", { dnsPolicy: "Default" }),
  says("own-dns", "cat /etc/resolv.conf", {
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["192.0.2.99"], searches: ["own.example"], options: [{ name: "timeout", value: "3" }] },
  }),
  says("host-network", "hostname; readlink /proc/self/ns/net; cat /etc/resolv.conf", { hostNetwork: true }),
  says("host-pids", "readlink /proc/self/ns/pid; readlink /proc/self/ns/ipc", { hostPID: true, hostIPC: true }),
  podManifest("message", {
    restartPolicy: "Never",
    containers: [
      container("file", shell("echo done > /dev/termination-log")),
      container("other", shell("echo elsewhere > /tmp/said"), { terminationMessagePath: "/tmp/said" }),
      container("log", shell("echo boom; exit 1"), { terminationMessagePolicy: "FallbackToLogsOnError" }),
    ],
  }),
  podManifest("page", { containers: [{ name: "main", image: standardImages.app, imagePullPolicy: "IfNotPresent" }] }),
  podManifest("order", {
    terminationGracePeriodSeconds: 30,
    initContainers: [
      container("first", shell("sleep 1")),
      container("side", shell("trap 'echo told; exit 0' TERM; echo up; while :; do sleep 3600 & wait $!; done"), {
        restartPolicy: "Always",
      }),
      container("second", shell("sleep 1")),
    ],
    containers: [
      container(
        "main",
        shell("trap 'sleep 1; echo ended; exit 0' TERM; echo up; while :; do sleep 3600 & wait $!; done"),
      ),
    ],
  }),
];

describe.each(["1.6", "2.1"] as const)("what containers find on containerd %s", (version) => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await NodeUnderTest.prepare(version);
    await node.agent.start();
    for (const pod of manifests) await node.agent.writeManifest(`${pod.metadata?.name}.yaml`, pod);
  });
  afterAll(() => node?.close());

  /** The pod, and the lines of its container up to END. */
  const saidBy = async (name: string): Promise<{ pod: Pod; lines: string[] }> => {
    const pod = await node.waitForReady(name);
    const path = containerLogPath(node.agent, { pod, container: "main" });
    return node.waitFor({
      what: `pod ${name} to have said all`,
      until: async () => {
        const lines = (await readContainerLog(path)).map(({ text }) => text.trimEnd());
        const end = lines.indexOf("END");
        return end >= 0 && { pod, lines: lines.slice(0, end) };
      },
    });
  };

  it("variables that refer to others, to the pod and to its limits", async () => {
    const { pod, lines } = await saidBy("env");
    expect(lines).toEqual([
      "1",
      "1-two",
      "$(A)",
      "$(ABSENT)",
      "env-n1",
      pod.status?.podIP,
      String(48 * 1024 * 1024),
      "1-two $(B)",
    ]);
  });

  it("the working folder, the terminal and the user that were asked for", async () => {
    expect((await saidBy("folder")).lines).toEqual(["/var/www"]);
    expect((await saidBy("terminal")).lines).toEqual(["terminal"]);
    const { lines } = await saidBy("user");
    expect(lines.slice(0, 2)).toEqual(["1000", "3000"]);
    expect(lines[2]?.split(" ")).toEqual(expect.arrayContaining(["3000", "4000"]));
  });

  it("the pod's name as host name, hosts of its own, and the cluster's name servers", async () => {
    const { pod, lines } = await saidBy("names");
    const end = lines.indexOf("---");
    expect(lines[0]).toBe("names-n1");
    expect(lines.slice(1, end)).toEqual([
      "# Kubernetes-managed hosts file.",
      "127.0.0.1\tlocalhost",
      "::1\tlocalhost ip6-localhost ip6-loopback",
      "fe00::0\tip6-localnet",
      "fe00::0\tip6-mcastprefix",
      "fe00::1\tip6-allnodes",
      "fe00::2\tip6-allrouters",
      `${pod.status?.podIP}\tnames-n1`,
    ]);
    const { server, domain } = clusterDns;
    expect(lines.slice(end + 1).sort()).toEqual([
      `nameserver ${server}`,
      "options ndots:5",
      `search default.svc.${domain} svc.${domain} ${domain} host.example`,
    ]);
  });

  it("the host name, domain and aliases that were asked for", async () => {
    const { pod, lines } = await saidBy("named");
    expect(lines[0]).toBe("box");
    expect(lines).toContain(`${pod.status?.podIP}\tbox.shelf.default.svc.${clusterDns.domain}\tbox`);
    expect(lines).toContain("# Entries added by HostAliases.");
    expect(lines).toContain("192.0.2.77\ta.example\tb.example");
  });

  it("the machine's name servers, or only those of the pod", async () => {
    expect((await saidBy("host-dns")).lines.sort()).toEqual(hostResolvConf.trim().split("\n").sort());
    expect((await saidBy("own-dns")).lines.sort()).toEqual([
      "nameserver 192.0.2.99",
      "options timeout:3",
      "search own.example",
    ]);
  });

  it("the machine's network, processes and IPC when they were asked for", async () => {
    const { pod, lines } = await saidBy("host-network");
    const [name, network, ...resolvConf] = lines;
    expect(name).toBe(hostname());
    expect(network).toBe(await readlink("/proc/self/ns/net"));
    // With the host's network, ClusterFirst means the host's name servers.
    expect(resolvConf.sort()).toEqual(hostResolvConf.trim().split("\n").sort());
    expect(pod.status?.podIP).toBe(pod.status?.hostIP);
    expect(pod.status?.podIP).toMatch(/^\d+\./);
    expect((await saidBy("host-pids")).lines).toEqual([
      await readlink("/proc/self/ns/pid"),
      await readlink("/proc/self/ns/ipc"),
    ]);
  });

  it("a place for their last words", async () => {
    const pod = await node.waitForPod("message", { what: "to fail", fits: ({ status }) => status?.phase === "Failed" });
    expect(stateOf(pod, "file")?.state?.terminated).toMatchObject({ exitCode: 0, message: "done\n" });
    expect(stateOf(pod, "other")?.state?.terminated).toMatchObject({ exitCode: 0, message: "elsewhere\n" });
    expect(stateOf(pod, "log")?.state?.terminated).toMatchObject({ exitCode: 1, message: "boom\n" });
  });

  it("an address at which the machine reaches them", async () => {
    const pod = await node.waitForReady("page");
    await expect
      .poll(async () => (await fetch(`http://${pod.status?.podIP}:8080/`)).text().catch(String), { timeout: 20_000 })
      .toBe("hello from a pod that nodelet runs\n");
  });

  it("those before them ended or up, and sidecars end after the others", async () => {
    const pod = await node.waitForReady("order");
    const of = (name: string) => node.containerStatus({ pod: "order", container: name });
    const [first, side, second, main] = [await of("first"), await of("side"), await of("second"), await of("main")];
    expect([first.state, side.state, second.state, main.state]).toEqual([
      "CONTAINER_EXITED",
      "CONTAINER_RUNNING",
      "CONTAINER_EXITED",
      "CONTAINER_RUNNING",
    ]);
    expect(side.startedAtNs).toBeGreaterThan(first.finishedAtNs);
    expect(second.startedAtNs).toBeGreaterThan(side.startedAtNs);
    expect(main.startedAtNs).toBeGreaterThan(second.finishedAtNs);
    expect(stateOf(pod, "first")?.state?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });

    const logs = await Promise.all(
      ["side", "main"].map((name) => keepLog(node.agent, containerLogPath(node.agent, { pod, container: name }))),
    );
    await node.agent.removeManifest("order.yaml");
    await node.waitForGone("order");
    const [sideLines = [], mainLines = []] = await Promise.all(logs.map(readContainerLog));
    expect(sideLines.map(({ text }) => text)).toEqual(["up", "told"]);
    expect(mainLines.map(({ text }) => text)).toEqual(["up", "ended"]);
    expect(sideLines[1]?.atMs).toBeGreaterThanOrEqual(mainLines[1]?.atMs ?? Number.POSITIVE_INFINITY);
  });

  it("nothing is left of any of them", async () => {
    const left = manifests.filter(({ metadata }) => metadata?.name !== "order");
    for (const { metadata } of left) await node.agent.removeManifest(`${metadata?.name}.yaml`);
    for (const { metadata } of left) await node.waitForGone(metadata?.name ?? "");
    await node.waitForNothingLeft();
    expect(await readFile("/etc/hosts", "utf8")).not.toContain("Kubernetes");
  });
});
