import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "../../api/index.ts";
import { defaultPod } from "../defaults.ts";
import { decodeManifest } from "../manifest/index.ts";
import { storedPods } from "../recordings.test-support.ts";
import { formatProblem, validatePod, validatePodUpdate } from "./index.ts";
import { inContainer, LABEL, pod, problems, QUALIFIED, type Row, SUBDOMAIN } from "./rows.test-support.ts";

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
  it.each([...METADATA, ...SPEC])("%s", (_, found, expected) => {
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
