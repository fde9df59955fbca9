import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec, Volume } from "../api/index.ts";
import { defaultPod } from "./defaults.ts";
import { storedPods } from "./recordings.test-support.ts";

function defaulted(spec: Partial<PodSpec>): PodSpec {
  const pod = defaultPod({ metadata: { name: "web" }, spec: { containers: [], ...spec } });
  return pod.spec as PodSpec;
}

function container(fields: Partial<Container>): Container | undefined {
  return defaulted({ containers: [{ name: "app", image: "web:1", ...fields }] }).containers[0];
}

function volume(source: Partial<Volume>): Volume | undefined {
  return defaulted({ volumes: [{ name: "v", ...source }] }).volumes?.[0];
}

describe("defaults of the API server", () => {
  it.each(storedPods().map(({ name, pod }) => [name, pod] as const))("add nothing to the stored pod %s", (_, pod) => {
    expect(defaultPod(pod)).toEqual(pod);
  });

  it("make the bare pod the one that was stored", () => {
    const stored = storedPods().find(({ name }) => name === "cmd-plain")?.pod as Pod;
    const bare = defaulted({
      containers: [{ name: "c", image: "localhost/busybox:1.35", command: ["sleep", "3600"] }],
      terminationGracePeriodSeconds: 2,
    });
    // What admission plug-ins of a cluster add is no default.
    const {
      tolerations,
      priority,
      preemptionPolicy,
      serviceAccountName,
      serviceAccount,
      automountServiceAccountToken,
      nodeName,
      ...rest
    } = stored.spec as PodSpec;
    expect([
      tolerations?.length,
      priority,
      preemptionPolicy,
      serviceAccountName,
      serviceAccount,
      automountServiceAccountToken,
      nodeName,
    ]).toEqual([2, 0, "PreemptLowerPriority", "default", "default", false, "n1"]);
    expect(bare).toEqual(rest);
  });

  it("give 30 seconds to stop", () => {
    expect(defaulted({}).terminationGracePeriodSeconds).toBe(30);
    expect(defaulted({ terminationGracePeriodSeconds: 0 }).terminationGracePeriodSeconds).toBe(0);
  });

  it.each([
    ["web", "Always"],
    ["web:latest", "Always"],
    ["localhost:5000/web", "Always"],
    ["localhost:5000/web:latest", "Always"],
    ["web:1", "IfNotPresent"],
    [`web@sha256:${"a".repeat(64)}`, "IfNotPresent"],
    [`web:latest@sha256:${"a".repeat(64)}`, "Always"],
    ["Not An Image", "IfNotPresent"],
    ["", "IfNotPresent"],
  ])("pull %s: %s", (image, policy) => {
    expect(container({ image })?.imagePullPolicy).toBe(policy);
  });

  it("take requests from limits and bring quantities into canonical form", () => {
    expect(
      container({ resources: { limits: { cpu: "1.5", memory: "1024Ki" }, requests: { memory: "0.5Mi" } } })?.resources,
    ).toEqual({
      limits: { cpu: "1500m", memory: "1Mi" },
      requests: { memory: "512Ki", cpu: "1500m" },
    });
    // Finer than a thousandth is rounded up (API compatibility rule of resource lists).
    expect(container({ resources: { requests: { cpu: "100u" } } })?.resources).toEqual({ requests: { cpu: "1m" } });
    expect(container({ resources: { requests: { cpu: "lots" } } })?.resources).toEqual({ requests: { cpu: "lots" } });
  });

  it("give ports a protocol, and in the host's network a host port", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", hostPort: 5353 }];
    expect(container({ ports })?.ports).toEqual([
      { containerPort: 80, protocol: "TCP" },
      { containerPort: 53, protocol: "UDP", hostPort: 5353 },
    ]);
    const host = defaulted({ hostNetwork: true, containers: [{ name: "app", ports: [{ containerPort: 80 }] }] });
    expect(host.containers[0]?.ports).toEqual([{ containerPort: 80, protocol: "TCP", hostPort: 80 }]);
  });

  it("fill in probes and hooks", () => {
    const { readinessProbe, livenessProbe, lifecycle } = container({
      readinessProbe: { httpGet: { port: 80 } },
      livenessProbe: { grpc: { port: 9000 }, failureThreshold: 1 },
      lifecycle: { preStop: { httpGet: { port: "web", scheme: "HTTPS" } } },
    }) as Container;
    const thresholds = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    expect(readinessProbe).toEqual({ httpGet: { port: 80, path: "/", scheme: "HTTP" }, ...thresholds });
    expect(livenessProbe).toEqual({ grpc: { port: 9000, service: "" }, ...thresholds, failureThreshold: 1 });
    expect(lifecycle?.preStop?.httpGet).toEqual({ port: "web", scheme: "HTTPS", path: "/" });
  });

  it("fill in volumes", () => {
    expect(volume({})).toEqual({ name: "v", emptyDir: {} });
    expect(volume({ hostPath: { path: "/x" } })).toEqual({ name: "v", hostPath: { path: "/x", type: "" } });
    expect(volume({ secret: { secretName: "s" } })?.secret?.defaultMode).toBe(420);
    expect(volume({ configMap: { name: "c" } })?.configMap?.defaultMode).toBe(420);
    expect(volume({ image: { reference: "web" } })?.image?.pullPolicy).toBe("Always");
    const projected = volume({
      projected: {
        sources: [
          { serviceAccountToken: { path: "t" } },
          { downwardAPI: { items: [{ path: "n", fieldRef: { fieldPath: "metadata.name" } }] } },
        ],
      },
    });
    expect(projected?.projected).toEqual({
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { path: "t", expirationSeconds: 3600 } },
        { downwardAPI: { items: [{ path: "n", fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } }] } },
      ],
    });
  });

  // KEP-2837, "Proposed validation & defaulting rules".
  it("fill in resources of the pod as a whole", () => {
    const inner = [
      { name: "a", resources: { requests: { cpu: "100m" } } },
      { name: "b", resources: { requests: { cpu: "200m" } } },
    ];
    expect(defaulted({ containers: inner, resources: { limits: { cpu: "1", memory: "1Gi" } } }).resources).toEqual({
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: "300m", memory: "1Gi" },
    });
    const limited: Container[] = [
      { name: "a", resources: { limits: { cpu: "1" } } },
      { name: "b", resources: { limits: { cpu: "2", memory: "1Gi" } } },
    ];
    expect(defaulted({ containers: limited, resources: { requests: { cpu: "4" } } }).resources).toEqual({
      requests: { cpu: "4" },
      limits: { cpu: "3" },
    });
    expect(defaulted({ containers: inner }).resources).toBeUndefined();
  });

  it("show a service account under both of its names", () => {
    expect(defaulted({ serviceAccount: "robot" }).serviceAccountName).toBe("robot");
    expect(defaulted({ serviceAccountName: "robot" }).serviceAccount).toBe("robot");
  });

  it("leave the input alone", () => {
    const pod: Pod = {
      metadata: { name: "web" },
      spec: { containers: [{ name: "app", ports: [{ containerPort: 80 }] }], hostNetwork: true },
    };
    const before = structuredClone(pod);
    defaultPod(pod);
    expect(pod).toEqual(before);
  });
});
