import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/index.ts";
import { containerAnnotations } from "./annotations.ts";
import { containerLogPath, crashBackOffKey, logLinkName, podLogDirectory } from "./names.ts";

const pod: Pod = { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: { containers: [] } };

describe("log names", () => {
  test("directory and path", () => {
    expect(podLogDirectory("/var/log/pods", pod)).toBe("/var/log/pods/ns_p_u");
    expect(podLogDirectory("/var/log/pods/", pod)).toBe("/var/log/pods/ns_p_u");
    expect(containerLogPath({ containerName: "c", restartCount: 7 })).toBe("c/7.log");
  });

  test("a link names pod, container and id", () => {
    const names = { podName: "p", podNamespace: "ns", containerName: "c", containerId: "abc" };
    expect(logLinkName(names)).toBe("p_ns_c-abc.log");
  });

  test("a link's name is cut to 255 bytes, before the suffix", () => {
    const names = { podName: "p".repeat(253), podNamespace: "ns", containerName: "c", containerId: "abc" };
    expect(logLinkName(names)).toBe(`${"p".repeat(251)}.log`);
    expect(logLinkName(names)).toHaveLength(255);
  });

  test("never longer than a file name may be, whatever the parts", () => {
    const part = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(part, part, part, (podName, podNamespace, containerName) => {
        const link = logLinkName({ podName, podNamespace, containerName, containerId: "abc" });
        expect(new TextEncoder().encode(link).length).toBeLessThanOrEqual(255);
        expect(link.endsWith(".log")).toBe(true);
      }),
    );
  });
});

describe("the crash back-off's key", () => {
  const container: Container = { name: "c", image: "i", resources: { limits: { cpu: "1", memory: "1Gi" } } };
  const key = (given: Container, of: Pod = pod): string => crashBackOffKey({ pod: of, container: given });

  test.each<[string, Container]>([
    ["another image", { ...container, image: "j" }],
    ["other resources", { ...container, resources: { limits: { cpu: "2", memory: "1Gi" } } }],
    ["another name", { ...container, name: "d" }],
  ])("changes with %s", (_, other) => {
    expect(key(other)).not.toBe(key(container));
  });

  test("stays with another command, and with resources written in another order", () => {
    expect(key({ ...container, command: ["x"] })).toBe(key(container));
    expect(key({ ...container, resources: { limits: { memory: "1Gi", cpu: "1" } } })).toBe(key(container));
  });

  test("begins with the pod's UID, so that a pod's keys can be forgotten with it", () => {
    expect(key(container)).toMatch(/^u\/c\/[0-9a-f]+$/);
    expect(key(container, { ...pod, metadata: { ...pod.metadata, uid: "v" } })).not.toBe(key(container));
  });
});

describe("annotations of a container", () => {
  const base: Container = {
    name: "test_container",
    image: "foo/image:v1",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  };

  test("hash (upstream's own vector), count and paths", () => {
    expect(containerAnnotations({ pod, container: base, restartCount: 3 })).toEqual({
      "io.kubernetes.container.hash": "8e45cbd0",
      "io.kubernetes.container.restartCount": "3",
      "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
      "io.kubernetes.container.terminationMessagePolicy": "File",
    });
  });

  test("grace periods", () => {
    const dying: Pod = {
      metadata: { ...pod.metadata, deletionGracePeriodSeconds: 5 },
      spec: { containers: [], terminationGracePeriodSeconds: 30 },
    };
    expect(containerAnnotations({ pod: dying, container: base, restartCount: 0 })).toMatchObject({
      "io.kubernetes.pod.deletionGracePeriod": "5",
      "io.kubernetes.pod.terminationGracePeriod": "30",
    });
  });

  test("ports in the order of Go's fields", () => {
    const ports = [
      { containerPort: 80, protocol: "TCP", name: "http", hostPort: 8080, hostIP: "192.0.2.2" },
      { protocol: "UDP", containerPort: 53 },
    ];
    expect(containerAnnotations({ pod, container: { ...base, ports }, restartCount: 0 })).toHaveProperty(
      ["io.kubernetes.container.ports"],
      '[{"name":"http","hostPort":8080,"containerPort":80,"protocol":"TCP","hostIP":"192.0.2.2"},{"containerPort":53,"protocol":"UDP"}]',
    );
  });

  test.each([
    [
      { exec: { command: ["sh", "-c", "a < b && c"] } },
      '{"exec":{"command":["sh","-c","a \\u003c b \\u0026\\u0026 c"]}}',
    ],
    [{ sleep: { seconds: 1 } }, '{"sleep":{"seconds":1}}'],
    [{ sleep: { seconds: 9_007_199_254_740_993n } }, '{"sleep":{"seconds":9007199254740993}}'],
    [{ tcpSocket: { host: "h", port: 80 } }, '{"tcpSocket":{"port":80,"host":"h"}}'],
    [
      { httpGet: { scheme: "HTTP", port: "web", path: "/x", httpHeaders: [{ value: "v", name: "N" }] } },
      '{"httpGet":{"path":"/x","port":"web","scheme":"HTTP","httpHeaders":[{"name":"N","value":"v"}]}}',
    ],
  ])("preStop case %#", (preStop, text) => {
    const container = { ...base, lifecycle: { preStop } };
    expect(containerAnnotations({ pod, container, restartCount: 0 })).toHaveProperty(
      ["io.kubernetes.container.preStopHandler"],
      text,
    );
  });
});
