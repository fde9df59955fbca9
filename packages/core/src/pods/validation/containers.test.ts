import { describe, expect, it } from "vitest";
import { inContainer, LABEL, problems, type Row } from "./rows.test-support.ts";

/** Expected texts are the API server's own (field errors of k8s.io/apimachinery and core validation). */
const CONTAINERS: Row[] = [
  ["no container", () => problems({ containers: [] }), ["spec.containers: Required value"]],
  ["no name", () => inContainer({ name: "" }), ["spec.containers[0].name: Required value"]],
  ["no image", () => inContainer({ image: "" }), ["spec.containers[0].image: Required value"]],
  [
    "blanks around an image",
    () => inContainer({ image: " web" }),
    ['spec.containers[0].image: Invalid value: " web": must not have leading or trailing whitespace'],
  ],
  ["a bad name", () => inContainer({ name: "a_b" }), [`spec.containers[0].name: Invalid value: "a_b": ${LABEL}`]],
  [
    "one name twice",
    () =>
      problems({
        containers: [
          { name: "a", image: "i" },
          { name: "a", image: "i" },
        ],
      }),
    ['spec.containers[1].name: Duplicate value: "a"'],
  ],
  [
    "an init container named like a container",
    () => problems({ initContainers: [{ name: "app", image: "i" }] }),
    ['spec.initContainers[0].name: Duplicate value: "app"'],
  ],
  [
    "a pull policy",
    () => inContainer({ imagePullPolicy: "Sometimes" }),
    [
      'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
    ],
  ],
  [
    "a message policy",
    () => inContainer({ terminationMessagePolicy: "x" }),
    [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"',
    ],
  ],
  [
    "a probe of an init container",
    () => problems({ initContainers: [{ name: "i", image: "i", livenessProbe: { tcpSocket: { port: 1 } } }] }),
    [
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
    ],
  ],
  [
    "a probe of a sidecar",
    () =>
      problems({
        initContainers: [{ name: "i", image: "i", restartPolicy: "Always", livenessProbe: { tcpSocket: { port: 1 } } }],
      }),
    [],
  ],
  [
    "no port number",
    () => inContainer({ ports: [{ containerPort: 0 }] }),
    ["spec.containers[0].ports[0].containerPort: Required value"],
  ],
  [
    "a port number",
    () => inContainer({ ports: [{ containerPort: 65536 }] }),
    ["spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive"],
  ],
  [
    "a protocol",
    () => inContainer({ ports: [{ containerPort: 1, protocol: "ICMP" }] }),
    ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "a port name",
    () => inContainer({ ports: [{ containerPort: 1, name: "8080" }] }),
    ['spec.containers[0].ports[0].name: Invalid value: "8080": must contain at least one letter (a-z)'],
  ],
  [
    "one port name twice",
    () =>
      inContainer({
        ports: [
          { containerPort: 1, name: "a" },
          { containerPort: 2, name: "a" },
        ],
      }),
    ['spec.containers[0].ports[1].name: Duplicate value: "a"'],
  ],
  [
    "one host port twice",
    () =>
      problems({
        containers: [
          { name: "a", image: "i", ports: [{ containerPort: 1, hostPort: 80 }] },
          { name: "b", image: "i", ports: [{ containerPort: 2, hostPort: 80 }] },
        ],
      }),
    ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
  ],
  [
    "the host's network with another host port",
    () => inContainer({ ports: [{ containerPort: 1, hostPort: 2 }] }, { hostNetwork: true }),
    ["spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true"],
  ],
];

const DETAILS: Row[] = [
  ["no variable name", () => inContainer({ env: [{ name: "" }] }), ["spec.containers[0].env[0].name: Required value"]],
  [
    "a variable name",
    () => inContainer({ env: [{ name: "a=b" }] }),
    [
      `spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
  ],
  ["an odd but legal variable name", () => inContainer({ env: [{ name: "1 not.a-shell name" }] }), []],
  [
    "value and source",
    () => inContainer({ env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
    ['spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    "no source",
    () => inContainer({ env: [{ name: "A", valueFrom: {} }] }),
    [
      'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
  ],
  [
    "an unknown field path",
    () => inContainer({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.tty" } } }] }),
    [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "spec.tty": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
  [
    "a label by its key",
    () => inContainer({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }] }),
    [],
  ],
  [
    "a request beyond the limit",
    () => inContainer({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    "a negative amount",
    () => inContainer({ resources: { requests: { memory: "-1" } } }),
    ['spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    "an unknown resource",
    () => inContainer({ resources: { requests: { gpu: "1" } } }),
    ['spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers'],
  ],
  [
    "a part of a device",
    () => inContainer({ resources: { limits: { "example.com/gpu": "500m" } } }).slice(0, 1),
    ['spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer'],
  ],
  [
    "a device that is asked for in another number",
    () => inContainer({ resources: { limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } } }),
    ['spec.containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
  ],
  [
    "a device without a limit",
    () => inContainer({ resources: { requests: { "example.com/gpu": "1" } } }),
    ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
  ],
  [
    "huge pages alone",
    () => inContainer({ resources: { limits: { "hugepages-2Mi": "4Mi" } } }),
    ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
  ],
  [
    "an unknown volume",
    () => inContainer({ volumeMounts: [{ name: "v", mountPath: "/v" }] }),
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    "one path twice",
    () =>
      inContainer(
        {
          volumeMounts: [
            { name: "v", mountPath: "/v" },
            { name: "v", mountPath: "/v" },
          ],
        },
        { volumes: [{ name: "v" }] },
      ),
    ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/v": must be unique'],
  ],
  [
    "a sub path that climbs",
    () =>
      inContainer({ volumeMounts: [{ name: "v", mountPath: "/v", subPath: "a/../b" }] }, { volumes: [{ name: "v" }] }),
    [`spec.containers[0].volumeMounts[0].subPath: Invalid value: "a/../b": must not contain '..'`],
  ],
  [
    "two sources of one volume",
    () => problems({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] }),
    ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
  ],
  [
    "one volume name twice",
    () => problems({ volumes: [{ name: "v" }, { name: "v" }] }),
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    "a host path that climbs",
    () => problems({ volumes: [{ name: "v", hostPath: { path: "/a/../b" } }] }),
    [`spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
  ],
  [
    "a file mode",
    () => problems({ volumes: [{ name: "v", secret: { secretName: "s", defaultMode: 512 } }] }),
    [
      "spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
    ],
  ],
  [
    "a probe without a handler",
    () => inContainer({ livenessProbe: {} }),
    ["spec.containers[0].livenessProbe: Required value: must specify a handler type"],
  ],
  [
    "two handlers",
    () => inContainer({ readinessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 1 } } }),
    ["spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
  ],
  [
    "a liveness probe that needs two successes",
    () => inContainer({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
    ["spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"],
  ],
  [
    "a negative delay",
    () => inContainer({ livenessProbe: { tcpSocket: { port: 1 }, initialDelaySeconds: -1 } }),
    ["spec.containers[0].livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "privileged without escalation",
    () => inContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    [
      'spec.containers[0].securityContext: Invalid value: "": cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
  [
    "a user below zero",
    () => inContainer({ securityContext: { runAsUser: -1 } }),
    ["spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
];

describe("containers are validated as the API server does it", () => {
  it.each([...CONTAINERS, ...DETAILS])("%s", (_, found, expected) => {
    expect(found()).toEqual(expected);
  });
});
