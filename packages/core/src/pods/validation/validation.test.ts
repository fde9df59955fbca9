import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "../../api/index.ts";
import { defaultPod } from "../defaults.ts";
import { decodeManifest } from "../manifest/index.ts";
import { storedPods } from "../recordings.test-support.ts";
import { formatProblem, validatePod, validatePodUpdate } from "./index.ts";

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function pod(spec: Partial<PodSpec>, metadata: Pod["metadata"] = {}): Pod {
  const containers: Container[] = [{ name: "app", image: "web:1" }];
  return defaultPod({ metadata: { name: "web", namespace: "default", ...metadata }, spec: { containers, ...spec } });
}

function problems(spec: Partial<PodSpec>, metadata?: Pod["metadata"]): string[] {
  return validatePod(pod(spec, metadata)).map(formatProblem);
}

function inContainer(fields: Partial<Container>, spec: Partial<PodSpec> = {}): string[] {
  return problems({ ...spec, containers: [{ name: "app", image: "web:1", ...fields }] });
}

type Row = [name: string, found: () => string[], expected: string[]];

/** Expected texts are the API server's own (field errors of k8s.io/apimachinery and core validation). */
const METADATA: Row[] = [
  [
    "a name is required",
    () => problems({}, { name: "" }),
    ["metadata.name: Required value: name or generateName is required"],
  ],
  ["upper case in a name", () => problems({}, { name: "Web" }), [`metadata.name: Invalid value: "Web": ${SUBDOMAIN}`]],
  [
    "a long name",
    () => problems({}, { name: "a".repeat(254) }),
    [`metadata.name: Invalid value: "${"a".repeat(254)}": must be no more than 253 bytes`],
  ],
  [
    "a namespace with a dot",
    () => problems({}, { namespace: "a.b" }),
    [`metadata.namespace: Invalid value: "a.b": ${LABEL}`],
  ],
  [
    "a label key",
    () => problems({}, { labels: { "a b": "c" } }),
    [`metadata.labels: Invalid value: "a b": ${QUALIFIED}`],
  ],
  [
    "an empty label prefix",
    () => problems({}, { labels: { "/x": "c" } }),
    ['metadata.labels: Invalid value: "/x": prefix part must be non-empty'],
  ],
  [
    "a label value",
    () => problems({}, { labels: { a: "-" } }).map((text) => text.slice(0, 60)),
    ['metadata.labels.a: Invalid value: "-": a valid label must be'],
  ],
  ["annotation keys of any case", () => problems({}, { annotations: { "Example.COM/Note": "x".repeat(1000) } }), []],
  [
    "too much in annotations",
    () => problems({}, { annotations: { note: "x".repeat(256 * 1024) } }),
    ["metadata.annotations: Too long: may not be more than 262144 bytes"],
  ],
];

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

const SPEC: Row[] = [
  [
    "a restart policy",
    () => problems({ restartPolicy: "Maybe" }),
    ['spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    "a DNS policy",
    () => problems({ dnsPolicy: "Mine" }),
    [
      'spec.dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    "no DNS at all",
    () => problems({ dnsPolicy: "None" }),
    ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  ],
  [
    "four name servers",
    () => problems({ dnsConfig: { nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "::1"] } }),
    [
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","::1"]: must not have more than 3 nameservers',
    ],
  ],
  [
    "a name server that is none",
    () => problems({ dnsConfig: { nameservers: ["dns.example"] } }),
    [
      'spec.dnsConfig.nameservers[0]: Invalid value: "dns.example": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    "a deadline",
    () => problems({ activeDeadlineSeconds: 0 }),
    ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
  ],
  ["a host name", () => problems({ hostname: "a.b" }), [`spec.hostname: Invalid value: "a.b": ${LABEL}`]],
  [
    "a sysctl name",
    () => problems({ securityContext: { sysctls: [{ name: "Net", value: "1" }] } }),
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "Net": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  ],
  [
    "one sysctl in two ways of writing",
    () =>
      problems({
        securityContext: {
          sysctls: [
            { name: "net.core.somaxconn", value: "1" },
            { name: "net/core/somaxconn", value: "2" },
          ],
        },
      }),
    ['spec.securityContext.sysctls[1].name: Duplicate value: "net/core/somaxconn"'],
  ],
  [
    "a network sysctl in the host's network",
    () => problems({ hostNetwork: true, securityContext: { sysctls: [{ name: "net.core.somaxconn", value: "1" }] } }),
    [
      `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
    ],
  ],
  [
    "both process namespaces",
    () => problems({ hostPID: true, shareProcessNamespace: true }),
    ["spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"],
  ],
  [
    "a user namespace in the host's network",
    () => problems({ hostUsers: false, hostNetwork: true }),
    ["spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false"],
  ],
  [
    "a toleration without a key",
    () => problems({ tolerations: [{ operator: "Equal" }] }),
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    "a toleration of seconds",
    () => problems({ tolerations: [{ key: "a", tolerationSeconds: 1 }] }),
    [`spec.tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`],
  ],
  [
    "an alias without an address",
    () => problems({ hostAliases: [{ ip: "here", hostnames: ["a"] }] }),
    ['spec.hostAliases[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    "windows options on linux",
    () => problems({ os: { name: "linux" }, securityContext: { windowsOptions: {} } }),
    ["spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
  ],
  [
    "resources of the pod below its containers'",
    () =>
      problems({
        containers: [{ name: "a", image: "i", resources: { requests: { cpu: "2" } } }],
        resources: { requests: { cpu: "1" } },
      }),
    [
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ],
  ],
  ["a node that nobody has", () => problems({ nodeName: "N1" }), [`spec.nodeName: Invalid value: "N1": ${SUBDOMAIN}`]],
];

describe("validation as the API server does it", () => {
  it.each([...METADATA, ...CONTAINERS, ...DETAILS, ...SPEC])("%s", (_, found, expected) => {
    expect(found()).toEqual(expected);
  });

  it("accepts what the API server stored", () => {
    // Placeholders of the recordings that stand where an address or a random name was.
    const text = (stored: Pod): Pod =>
      JSON.parse(
        JSON.stringify(stored)
          .replaceAll("HOST_IP", "192.0.2.2")
          .replaceAll("RANDOM", "x7k2p")
          .replaceAll("HOST_DNS", "192.0.2.53"),
      ) as Pod;
    const found = storedPods().map(({ name, pod: stored }) => [name, validatePod(text(stored)).map(formatProblem)]);
    expect(found.filter(([, list]) => (list?.length ?? 0) > 0)).toEqual([]);
  });

  it("names all faults at once", () => {
    expect(inContainer({ name: "", image: "" }, { restartPolicy: "x" })).toHaveLength(3);
  });

  it("never throws on what the decoder lets through", () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, -1, "", "a", "1", "/x", "TCP"),
        fc.array(tie("any"), { maxLength: 2 }),
        tie("object"),
      ),
      object: fc.dictionary(
        fc.constantFrom(
          "name",
          "image",
          "containers",
          "initContainers",
          "ephemeralContainers",
          "ports",
          "containerPort",
          "hostPort",
          "env",
          "valueFrom",
          "fieldRef",
          "resourceFieldRef",
          "volumes",
          "volumeMounts",
          "volumeDevices",
          "secret",
          "projected",
          "sources",
          "securityContext",
          "sysctls",
          "seccompProfile",
          "appArmorProfile",
          "livenessProbe",
          "httpGet",
          "lifecycle",
          "preStop",
          "resources",
          "limits",
          "requests",
          "claims",
          "resourceClaims",
          "affinity",
          "nodeAffinity",
          "requiredDuringSchedulingIgnoredDuringExecution",
          "nodeSelectorTerms",
          "matchExpressions",
          "tolerations",
          "hostAliases",
          "dnsConfig",
          "readinessGates",
          "resizePolicy",
          "restartPolicyRules",
          "exitCodes",
          "envFrom",
          "configMapRef",
          "os",
          "overhead",
          "hostNetwork",
          "cpu",
        ),
        tie("any"),
        { maxKeys: 6 },
      ),
    })).object;
    fc.assert(
      fc.property(value, (spec) => {
        let decoded: Pod | undefined;
        try {
          decoded = decodeManifest({
            bytes: JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec }),
            source: "x",
          }).pods[0];
        } catch {
          return;
        }
        expect(validatePod(defaultPod(decoded ?? {}))).toBeInstanceOf(Array);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("an update", () => {
  const before = pod({
    activeDeadlineSeconds: 100,
    tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
  });
  const changed = (spec: Partial<PodSpec>): string[] =>
    validatePodUpdate({ before, after: { ...before, spec: { ...(before.spec as PodSpec), ...spec } } }).map(
      formatProblem,
    );

  it("may change an image, lower the deadline, add a toleration", () => {
    expect(changed({ containers: [{ ...(before.spec?.containers[0] as Container), image: "web:2" }] })).toEqual([]);
    expect(changed({ activeDeadlineSeconds: 50 })).toEqual([]);
    expect(changed({ tolerations: [...(before.spec?.tolerations ?? []), { operator: "Exists" }] })).toEqual([]);
  });

  it("may change nothing else", () => {
    const only =
      "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    expect(changed({ hostNetwork: true })).toEqual([only]);
    expect(changed({ containers: [{ ...(before.spec?.containers[0] as Container), tty: true }] })).toEqual([only]);
    expect(changed({ terminationGracePeriodSeconds: 1 })).toEqual([only]);
    expect(changed({ tolerations: [] })).toEqual([
      "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
    ]);
    expect(changed({ activeDeadlineSeconds: 101 })).toEqual([
      "spec.activeDeadlineSeconds: Invalid value: 101: must be less than or equal to previous value",
    ]);
  });
});
