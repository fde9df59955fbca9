import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { ServiceSummary } from "../../ports/object-source.ts";
import { containerEnv, expandArguments } from "./env.ts";
import { objectKey, objectReferences, type PrefetchedObjects, prefetchObjects } from "./object-references.ts";
import { prefetched, RECORDED_NODE } from "./recordings.test-support.ts";

const OBJECTS = prefetched([
  { kind: "configMap", namespace: "ns", name: "first", data: { b: "1", a: "2", shared: "first" } },
  { kind: "secret", namespace: "ns", name: "second", data: { shared: "second", "not.a.name": "x", __proto__x: "y" } },
]);

interface Given {
  readonly pod?: Partial<NonNullable<Pod["spec"]>>;
  readonly metadata?: Pod["metadata"];
  readonly podIps?: readonly string[];
  readonly nodeIps?: readonly string[];
  readonly objects?: PrefetchedObjects;
  readonly services?: readonly ServiceSummary[];
}

function env(container: Partial<Container>, given: Given = {}) {
  const whole: Container = { name: "c", ...container };
  const nodeIps = given.nodeIps ?? ["192.0.2.2"];
  return containerEnv({
    pod: {
      metadata: { name: "p", namespace: "ns", uid: "u", ...given.metadata },
      spec: { containers: [whole], nodeName: "n1", serviceAccountName: "sa", ...given.pod },
    },
    container: whole,
    node: {
      ...RECORDED_NODE,
      machine: { ...RECORDED_NODE.machine, nodeIps },
      allocatable: { cpu: "3500m", memory: "7Gi", "ephemeral-storage": "90Gi" },
    },
    podIps: given.podIps ?? ["10.244.0.5"],
    objects: given.objects ?? OBJECTS,
    services: given.services ?? [],
  });
}

const pairs = (...args: Parameters<typeof env>) => env(...args).map(({ key, value }) => [key, value]);

function failure(run: () => unknown): NodeletError {
  try {
    run();
  } catch (error) {
    return NodeletError.from(error);
  }
  throw new Error("expected a failure");
}

describe("order and overriding", () => {
  test("envFrom in order, env after it, each name once", () => {
    const given = {
      envFrom: [{ configMapRef: { name: "first" } }, { secretRef: { name: "second" }, prefix: "S_" }],
      env: [
        { name: "a", value: "own" },
        { name: "Z", value: "$(a)-$(b)-$(S_shared)" },
      ],
    };
    expect(pairs(given)).toEqual([
      ["b", "1"],
      ["a", "own"],
      ["shared", "first"],
      ["S_shared", "second"],
      ["S_not.a.name", "x"],
      ["S___proto__x", "y"],
      ["Z", "own-1-second"],
    ]);
  });

  test("a later source wins", () => {
    const envFrom = [{ secretRef: { name: "second" } }, { configMapRef: { name: "first" } }];
    expect(pairs({ envFrom })).toContainEqual(["shared", "first"]);
  });

  test("a variable sees only what came before it; the last value of a name counts", () => {
    const given = [
      { name: "A", value: "$(B)" },
      { name: "B", value: "1" },
      { name: "A", value: "$(B)$(A)" },
    ];
    expect(pairs({ env: given })).toEqual([
      ["A", "1$(B)"],
      ["B", "1"],
    ]);
  });

  test("names such as __proto__ are plain names", () => {
    expect(
      pairs({
        env: [
          { name: "__proto__", value: "x" },
          { name: "B", value: "$(__proto__)$(constructor)" },
        ],
      }),
    ).toEqual([
      ["__proto__", "x"],
      ["B", "x$(constructor)"],
    ]);
  });

  test("a chain of doublings is stopped", () => {
    const chain = Array.from({ length: 40 }, (_, index) => ({
      name: `V${index + 1}`,
      value: `$(V${index})$(V${index})`,
    }));
    const thrown = failure(() => env({ env: [{ name: "V0", value: "xxxxxxxx" }, ...chain] }));
    expect(thrown.message).toContain("more than 1048576 characters");
  });

  test("arguments see everything, services too", () => {
    const all = [
      { key: "A", value: "1" },
      { key: "S_PORT", value: "80" },
    ];
    expect(expandArguments(["x", "$(A):$(S_PORT)", "$(NO)"], all)).toEqual(["x", "1:80", "$(NO)"]);
    expect(expandArguments(undefined, all)).toEqual([]);
  });
});

describe("config maps and secrets", () => {
  const key = (ref: object) => ({ env: [{ name: "X", valueFrom: ref }] });
  test("a key's value", () => {
    expect(pairs(key({ secretKeyRef: { name: "second", key: "shared" } }))).toEqual([["X", "second"]]);
  });

  test.each([
    ["an absent key", { configMapKeyRef: { name: "first", key: "no" } }, "couldn't find key no in ConfigMap ns/first"],
    [
      "an absent secret key",
      { secretKeyRef: { name: "second", key: "no" } },
      "couldn't find key no in Secret ns/second",
    ],
    ["an absent map", { configMapKeyRef: { name: "no", key: "a" } }, 'configmap "no" not found'],
    ["an absent secret", { secretKeyRef: { name: "no", key: "a" } }, 'secret "no" not found'],
    [
      "a key of every object",
      { secretKeyRef: { name: "second", key: "constructor" } },
      "couldn't find key constructor in Secret ns/second",
    ],
  ])("%s", (_, ref, message) => {
    expect(failure(() => env(key(ref))).message).toBe(message);
  });

  test.each([
    ["an absent key", { configMapKeyRef: { name: "first", key: "no", optional: true } }],
    ["an absent map", { configMapKeyRef: { name: "no", key: "a", optional: true } }],
  ])("%s that is optional leaves the variable out", (_, ref) => {
    expect(pairs(key(ref))).toEqual([]);
  });

  test("an optional source that is absent adds nothing", () => {
    expect(pairs({ envFrom: [{ secretRef: { name: "no", optional: true } }] })).toEqual([]);
  });

  test("a source that could not be asked fails even what is optional", () => {
    const error = new NodeletError("unavailable", "failed to sync secret cache");
    const reference = { kind: "secret", namespace: "ns", name: "no" } as const;
    const objects = new Map([[objectKey(reference), { kind: "failed", error }]] as const);
    const thrown = failure(() => env({ envFrom: [{ secretRef: { name: "no", optional: true } }] }, { objects }));
    expect([thrown.kind, thrown.message]).toEqual(["unavailable", "failed to sync secret cache"]);
  });

  test("a file reference says that it cannot be served", () => {
    const fileKeyRef = { volumeName: "v", path: "p", key: "k" };
    expect(failure(() => env(key({ fileKeyRef }))).kind).toBe("unsupported");
  });
});

describe("fields of the pod", () => {
  const field = (fieldPath: string, given: Given = {}, apiVersion = "v1") =>
    pairs({ env: [{ name: "X", valueFrom: { fieldRef: { fieldPath, apiVersion } } }] }, given)[0]?.[1];

  test.each([
    ["metadata.name", "p"],
    ["metadata.namespace", "ns"],
    ["metadata.uid", "u"],
    ["metadata.labels['app']", "web"],
    ["metadata.labels['none']", ""],
    ["metadata.labels['__proto__']", ""],
    ["metadata.annotations['x.io/note']", 'a "b"'],
    ["metadata.labels", 'app="web"\ntier="1"'],
    ["metadata.annotations", 'x.io/note="a \\"b\\""'],
    ["spec.nodeName", "n1"],
    ["spec.host", "n1"],
    ["spec.serviceAccountName", "sa"],
    ["status.hostIP", "192.0.2.2"],
    ["status.podIP", "10.244.0.5"],
  ])("%s", (path, expected) => {
    const metadata = { labels: { tier: "1", app: "web" }, annotations: { "x.io/note": 'a "b"' } };
    expect(field(path, { metadata })).toBe(expected);
  });

  test.each([
    ["spec.nodeSelector", "v1", "field label not supported: spec.nodeSelector"],
    ["spec.containers['x']", "v1", "field label does not support subscript: spec.containers['x']"],
    ["metadata.annotations['a b']", "v1", "invalid key subscript in metadata.annotations['a b']"],
    ["metadata.name", "v2", "unsupported pod version: v2"],
  ])("%s of %s", (path, version, message) => {
    expect(failure(() => field(path, {}, version)).message).toContain(message);
  });

  test.each([
    ["IPv4 first", ["192.0.2.2"], "10.0.0.7", "10.0.0.7,fd00::7"],
    ["IPv6 first", ["2001:db8::2", "192.0.2.2"], "fd00::7", "fd00::7,10.0.0.7"],
  ])("addresses in the order of the node's families: %s", (_, nodeIps, first, all) => {
    const given = { podIps: ["fd00::7", "10.0.0.7"], nodeIps };
    expect(field("status.podIP", given)).toBe(first);
    expect(field("status.podIPs", given)).toBe(all);
    expect(field("status.hostIPs", given)).toBe(nodeIps.join(","));
  });

  test("on the host network the node's addresses are the pod's", () => {
    expect(field("status.podIP", { podIps: [], pod: { hostNetwork: true } })).toBe("192.0.2.2");
  });
});

describe("resources of a container", () => {
  const limited = {
    requests: { cpu: "125m", memory: "100k", "ephemeral-storage": "1Gi" },
    limits: { cpu: "250m", memory: "64Mi", "hugepages-2Mi": "4Mi" },
  };
  const value = (
    resource: string,
    divisor: string | undefined,
    given: Given = {},
    resources: Container["resources"] = limited,
  ) =>
    pairs(
      { resources, env: [{ name: "X", valueFrom: { resourceFieldRef: { resource, ...(divisor && { divisor }) } } }] },
      given,
    )[0]?.[1];

  test.each([
    ["requests.cpu", undefined, "1"],
    ["limits.cpu", undefined, "1"],
    ["limits.cpu", "0", "1"],
    ["requests.cpu", "1m", "125"],
    ["limits.cpu", "1m", "250"],
    ["limits.memory", undefined, "67108864"],
    ["limits.memory", "1Mi", "64"],
    ["limits.memory", "1M", "68"],
    ["requests.memory", "1Ki", "98"],
    ["requests.ephemeral-storage", "1Mi", "1024"],
    ["limits.hugepages-2Mi", "1Mi", "4"],
    ["limits.hugepages-1Gi", undefined, "0"],
    ["limits.ephemeral-storage", "1Gi", "90"],
  ])("%s by %s", (resource, divisor, expected) => {
    expect(value(resource, divisor)).toBe(expected);
  });

  test.each([
    ["limits.cpu", "1m", "3500"],
    ["limits.cpu", undefined, "4"],
    ["limits.memory", "1Gi", "7"],
    ["requests.cpu", "1m", "0"],
    ["requests.memory", undefined, "0"],
  ])("without a limit %s by %s is what the node can allocate", (resource, divisor, expected) => {
    expect(value(resource, divisor, {}, {})).toBe(expected);
  });

  test("the pod's own limit comes before the node's", () => {
    const pod = { resources: { limits: { memory: "200Mi" } } };
    expect(value("limits.memory", "1Mi", { pod }, {})).toBe("200");
  });

  test("of another container of the pod", () => {
    const pod = { containers: [{ name: "c" }, { name: "d", resources: { requests: { cpu: "3" } } }] };
    const resourceFieldRef = { containerName: "d", resource: "requests.cpu" };
    expect(pairs({ env: [{ name: "X", valueFrom: { resourceFieldRef } }] }, { pod })).toEqual([["X", "3"]]);
    const absent = { ...resourceFieldRef, containerName: "e" };
    const thrown = failure(() => env({ env: [{ name: "X", valueFrom: { resourceFieldRef: absent } }] }, { pod }));
    expect(thrown.message).toBe("container e not found");
  });

  test.each(["limits.example.com/gpu", "cpu", "usage.cpu"])("%s is not served", (resource) => {
    expect(failure(() => value(resource, undefined)).message).toBe(`unsupported container resource : ${resource}`);
  });
});

describe("services", () => {
  const services: ServiceSummary[] = [
    {
      namespace: "default",
      name: "kubernetes",
      clusterIp: "10.96.0.1",
      ports: [{ name: "https", port: 443, protocol: "TCP" }],
    },
    { namespace: "ns", name: "my-db", clusterIp: "fd00::9", ports: [{ port: 5432, protocol: "" }] },
    { namespace: "ns", name: "headless", clusterIp: "None", ports: [{ port: 1, protocol: "TCP" }] },
    { namespace: "other", name: "far", clusterIp: "10.96.0.3", ports: [{ port: 1, protocol: "TCP" }] },
  ];
  const master = [
    ["KUBERNETES_SERVICE_HOST", "10.96.0.1"],
    ["KUBERNETES_SERVICE_PORT", "443"],
    ["KUBERNETES_SERVICE_PORT_HTTPS", "443"],
    ["KUBERNETES_PORT", "tcp://10.96.0.1:443"],
    ["KUBERNETES_PORT_443_TCP", "tcp://10.96.0.1:443"],
    ["KUBERNETES_PORT_443_TCP_PROTO", "tcp"],
    ["KUBERNETES_PORT_443_TCP_PORT", "443"],
    ["KUBERNETES_PORT_443_TCP_ADDR", "10.96.0.1"],
  ];
  const database = [
    ["MY_DB_SERVICE_HOST", "fd00::9"],
    ["MY_DB_SERVICE_PORT", "5432"],
    ["MY_DB_PORT", "tcp://[fd00::9]:5432"],
    ["MY_DB_PORT_5432_TCP", "tcp://[fd00::9]:5432"],
    ["MY_DB_PORT_5432_TCP_PROTO", "tcp"],
    ["MY_DB_PORT_5432_TCP_PORT", "5432"],
    ["MY_DB_PORT_5432_TCP_ADDR", "fd00::9"],
  ];

  test("of the pod's namespace, and the cluster's own", () => {
    expect(pairs({}, { services })).toEqual([...master, ...database]);
  });

  test("without links only the cluster's own", () => {
    expect(pairs({}, { services, pod: { enableServiceLinks: false } })).toEqual(master);
  });

  test("a service of the namespace takes the place of the cluster's", () => {
    const own = { namespace: "ns", name: "kubernetes", clusterIp: "10.96.0.5", ports: [{ port: 1, protocol: "TCP" }] };
    for (const order of [
      [...services, own],
      [own, ...services],
    ]) {
      expect(pairs({}, { services: order })).toContainEqual(["KUBERNETES_SERVICE_HOST", "10.96.0.5"]);
    }
  });

  test("a variable of the container replaces a service's and may refer to it", () => {
    const given = [
      { name: "URL", value: "http://$(MY_DB_SERVICE_HOST)" },
      { name: "MY_DB_PORT", value: "mine" },
    ];
    const all = pairs({ env: given }, { services });
    expect(all.slice(0, 2)).toEqual([
      ["URL", "http://fd00::9"],
      ["MY_DB_PORT", "mine"],
    ]);
    expect(all.filter(([name]) => name === "MY_DB_PORT")).toHaveLength(1);
  });
});

describe("what must be looked up first", () => {
  const container: Container = {
    name: "c",
    envFrom: [{ configMapRef: { name: "first" } }, { secretRef: { name: "second" } }],
    env: [
      { name: "A", valueFrom: { configMapKeyRef: { name: "first", key: "a" } } },
      { name: "B", valueFrom: { secretKeyRef: { name: "third", key: "a" } } },
      { name: "C", value: "x" },
    ],
  };
  const pod: Pod = { metadata: { namespace: "ns" }, spec: { containers: [container] } };

  test("each object once, in the pod's namespace", () => {
    expect(objectReferences(pod, container)).toEqual([
      { kind: "configMap", namespace: "ns", name: "first" },
      { kind: "secret", namespace: "ns", name: "second" },
      { kind: "secret", namespace: "ns", name: "third" },
    ]);
  });

  const source = {
    configMap: async (request: { name: string }) => ({ namespace: "ns", name: request.name, data: { a: "1" } }),
    secret: async (request: { name: string }) => {
      if (request.name === "third") throw new NodeletError("unavailable", "no answer");
      return undefined;
    },
    services: async () => [] as readonly ServiceSummary[],
    runtimeClass: async () => undefined,
  };

  test("found, absent and failed", async () => {
    const { objects } = await prefetchObjects({ pod, container, source });
    expect([...objects].map(([key, lookup]) => [key, lookup.kind])).toEqual([
      ["configMap/ns/first", "found"],
      ["secret/ns/second", "absent"],
      ["secret/ns/third", "failed"],
    ]);
  });

  test("services that cannot be read are a config error", async () => {
    const services = async () => Promise.reject(new NodeletError("unavailable", "no answer"));
    const looked = prefetchObjects({ pod, container, source: { ...source, services } });
    await expect(looked).rejects.toMatchObject({ kind: "unavailable", reason: "CreateContainerConfigError" });
  });

  test("a signal ends it as cancelled", async () => {
    const signal = AbortSignal.abort();
    await expect(prefetchObjects({ pod, container, source, signal })).rejects.toMatchObject({ kind: "cancelled" });
  });
});
