import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { buildContainerConfig, buildSandboxConfig, type ImageUser, imageUser } from "./index.ts";
import { RECORDED_NODE } from "./recordings.test-support.ts";
import type { ContainerRequestContext } from "./request-context.ts";

interface Given
  extends Partial<Pick<ContainerRequestContext, "targetContainerId" | "userNamespace" | "runtimeHandler">> {
  readonly pod?: Partial<NonNullable<Pod["spec"]>>;
  readonly annotations?: Record<string, string>;
  readonly imageUser?: ImageUser;
  readonly seccompDefault?: boolean;
  readonly container?: Partial<Container>;
}

function build(securityContext: Container["securityContext"], given: Given = {}) {
  const { pod: spec, annotations = {}, container: extra, seccompDefault = false, ...rest } = given;
  const container: Container = { name: "c", image: "i", ...(securityContext && { securityContext }), ...extra };
  const config = { ...RECORDED_NODE.config, seccompDefault };
  return buildContainerConfig({
    pod: {
      metadata: { name: "p", namespace: "ns", uid: "u", annotations },
      spec: { containers: [container], ...spec },
    },
    node: { ...RECORDED_NODE, config },
    container,
    kind: "regular",
    restartCount: 0,
    imageRef: "sha256:1",
    imageUser: { uid: 0n },
    podIps: [],
    objects: new Map(),
    services: [],
    ...rest,
  });
}

const security = (...args: Parameters<typeof build>) => build(...args).linux?.securityContext;

function failure(run: () => unknown): NodeletError {
  try {
    run();
  } catch (error) {
    return NodeletError.from(error);
  }
  throw new Error("expected a failure");
}

describe("user and group", () => {
  test.each<[string, Given, Container["securityContext"], object]>([
    ["the image's uid", { imageUser: { uid: 65_532n } }, {}, { runAsUser: 65_532n }],
    ["the image's user by name", { imageUser: { username: "nobody" } }, {}, { runAsUsername: "nobody" }],
    ["the pod's", { pod: { securityContext: { runAsUser: 1, runAsGroup: 2 } } }, {}, { runAsUser: 1n, runAsGroup: 2n }],
    [
      "the container's before the pod's",
      { pod: { securityContext: { runAsUser: 1, runAsGroup: 2 } } },
      { runAsUser: 0, runAsGroup: 3 },
      { runAsUser: 0n, runAsGroup: 3n },
    ],
  ])("%s", (_, given, own, expected) => {
    expect(security(own, given)).toMatchObject(expected);
  });

  test("a named user is told without a uid", () => {
    expect(Object.keys(security({}, { imageUser: { username: "nobody" } }) ?? {})).not.toContain("runAsUser");
  });

  test.each([
    [{ uid: 5n, username: "x" }, { uid: 5n }],
    [{ username: "x" }, { username: "x" }],
    [{ username: "" }, { uid: 0n }],
    [{}, { uid: 0n }],
  ])("of an image (case %#)", (image, expected) => {
    expect(imageUser(image)).toEqual(expected);
  });
});

describe("runAsNonRoot", () => {
  const where = '(pod: "p_ns(u)", container: c)';
  test.each<[string, ImageUser, Container["securityContext"], string]>([
    ["uid 0 by the spec", { uid: 5n }, { runAsUser: 0 }, `container's runAsUser breaks non-root policy ${where}`],
    ["uid 0 by the image", { uid: 0n }, {}, `container has runAsNonRoot and image will run as root ${where}`],
    [
      "a name, be it another than root",
      { username: "app" },
      {},
      `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${where}`,
    ],
  ])("refuses %s", (_, user, own, message) => {
    const thrown = failure(() => build({ runAsNonRoot: true, ...own }, { imageUser: user }));
    expect([thrown.reason, thrown.message]).toEqual(["CreateContainerConfigError", message]);
  });

  test.each<[string, ImageUser, Given["pod"], Container["securityContext"]]>([
    ["another uid by the spec, whatever the image", { username: "root" }, {}, { runAsNonRoot: true, runAsUser: 1 }],
    ["another uid by the image", { uid: 5n }, {}, { runAsNonRoot: true }],
    [
      "root when the container says so against the pod",
      { uid: 0n },
      { securityContext: { runAsNonRoot: true } },
      { runAsNonRoot: false },
    ],
    ["root when nobody forbids it", { uid: 0n }, {}, {}],
  ])("allows %s", (_, user, pod, own) => {
    expect(() => build(own, { imageUser: user, pod: pod ?? {} })).not.toThrow();
  });

  test("holds by the pod's word too", () => {
    const pod = { securityContext: { runAsNonRoot: true } };
    expect(failure(() => build({}, { pod })).reason).toBe("CreateContainerConfigError");
  });
});

describe("what a process may gain and see", () => {
  test.each([
    [undefined, false],
    [true, false],
    [false, true],
  ])("allowPrivilegeEscalation %s", (allowPrivilegeEscalation, noNewPrivs) => {
    const own = allowPrivilegeEscalation === undefined ? {} : { allowPrivilegeEscalation };
    expect(security(own)?.noNewPrivs).toBe(noNewPrivs);
  });

  test("procMount Unmasked hides nothing", () => {
    const pod = { hostUsers: false };
    const userNamespace = { mode: "POD", uids: [{ hostId: 65_536, containerId: 0, length: 65_536 }] } as const;
    const given = security({ procMount: "Unmasked" }, { pod, userNamespace });
    expect(given).toMatchObject({
      maskedPaths: [],
      readonlyPaths: [],
      namespaceOptions: { usernsOptions: userNamespace },
    });
    expect(security({ procMount: "Default" })?.maskedPaths).toContain("/proc/kcore");
  });

  test("capabilities in the order of the spec", () => {
    expect(security({ capabilities: { add: ["B", "A"], drop: ["ALL"] } })?.capabilities).toEqual({
      addCapabilities: ["B", "A"],
      dropCapabilities: ["ALL"],
    });
  });

  test("SELinux options of the container replace the pod's as a whole", () => {
    const pod = { securityContext: { seLinuxOptions: { user: "u", level: "s0" } } };
    expect(security({}, { pod })?.selinuxOptions).toEqual({ user: "u", role: "", type: "", level: "s0" });
    const own = { seLinuxOptions: { type: "t" } };
    expect(security(own, { pod })?.selinuxOptions).toEqual({ user: "", role: "", type: "t", level: "" });
  });
});

describe("seccomp", () => {
  test.each<[string, Container["securityContext"], Given, object]>([
    ["nothing", {}, {}, { profileType: "Unconfined" }],
    ["nothing, with seccompDefault", {}, { seccompDefault: true }, { profileType: "RuntimeDefault" }],
    [
      "Unconfined, with seccompDefault",
      { seccompProfile: { type: "Unconfined" } },
      { seccompDefault: true },
      { profileType: "Unconfined" },
    ],
    [
      "the pod's",
      {},
      { pod: { securityContext: { seccompProfile: { type: "RuntimeDefault" } } } },
      { profileType: "RuntimeDefault" },
    ],
    [
      "the container's before the pod's",
      { seccompProfile: { type: "Unconfined" } },
      { pod: { securityContext: { seccompProfile: { type: "RuntimeDefault" } } } },
      { profileType: "Unconfined" },
    ],
    [
      "a local profile",
      { seccompProfile: { type: "Localhost", localhostProfile: "a/./b.json" } },
      {},
      { profileType: "Localhost", localhostRef: "/var/lib/kubelet/seccomp/a/b.json" },
    ],
  ])("%s", (_, own, given, expected) => {
    expect(security(own, given)?.seccomp).toEqual(expected);
  });

  test.each([
    [undefined, "localhostProfile must be set if seccompProfile type is Localhost."],
    ["../x", 'localhostProfile "../x": expected a relative path below the seccomp directory'],
    ["/etc/x", 'localhostProfile "/etc/x": expected a relative path below the seccomp directory'],
  ])("a local profile %s is refused", (localhostProfile, message) => {
    const seccompProfile = { type: "Localhost", ...(localhostProfile && { localhostProfile }) };
    const thrown = failure(() => build({ seccompProfile }));
    expect(thrown.reason).toBe("CreateContainerConfigError");
    expect(thrown.message).toContain(message);
  });
});

describe("AppArmor", () => {
  const key = "container.apparmor.security.beta.kubernetes.io/c";
  test.each<[string, Container["securityContext"], Given, object | undefined]>([
    ["nothing", {}, {}, undefined],
    ["the runtime's", { appArmorProfile: { type: "RuntimeDefault" } }, {}, { profileType: "RuntimeDefault" }],
    [
      "a local one",
      { appArmorProfile: { type: "Localhost", localhostProfile: "x" } },
      {},
      { profileType: "Localhost", localhostRef: "x" },
    ],
    [
      "the pod's",
      {},
      { pod: { securityContext: { appArmorProfile: { type: "Unconfined" } } } },
      { profileType: "Unconfined" },
    ],
    [
      "an annotation before the pod's",
      {},
      { annotations: { [key]: "localhost/y" }, pod: { securityContext: { appArmorProfile: { type: "Unconfined" } } } },
      { profileType: "Localhost", localhostRef: "y" },
    ],
    [
      "the field before an annotation",
      { appArmorProfile: { type: "RuntimeDefault" } },
      { annotations: { [key]: "unconfined" } },
      { profileType: "RuntimeDefault" },
    ],
  ])("%s", (_, own, given, expected) => {
    expect(security(own, given)?.apparmor).toEqual(expected);
  });

  test.each([
    [{ type: "Localhost" }, "missing localhost apparmor profile name"],
    [{ type: "Odd" }, 'unknown apparmor profile type: "Odd"'],
  ])("%j is refused", (appArmorProfile, message) => {
    expect(failure(() => build({ appArmorProfile })).message).toBe(message);
  });
});

describe("namespaces", () => {
  test.each<[string, Given, object]>([
    ["a pod's own", {}, { network: "POD", pid: "CONTAINER", ipc: "POD", usernsOptions: { mode: "NODE" } }],
    ["shared processes", { pod: { shareProcessNamespace: true } }, { pid: "POD" }],
    [
      "the host's",
      { pod: { hostNetwork: true, hostPID: true, hostIPC: true } },
      { network: "NODE", pid: "NODE", ipc: "NODE" },
    ],
    ["another container's processes", { targetContainerId: "abc" }, { pid: "TARGET", targetId: "abc" }],
  ])("%s", (_, given, expected) => {
    expect(security({}, given)?.namespaceOptions).toMatchObject(expected);
  });

  test("user namespaces that a runtime class's handler lacks", () => {
    const thrown = failure(() => build({}, { pod: { hostUsers: false }, runtimeHandler: "kata" }));
    expect(thrown.message).toBe(
      'can\'t set `spec.hostUsers: false`, RuntimeClass handler "kata" does not support user namespaces',
    );
  });
});

test("groups: fsGroup first, and a policy that is known", () => {
  const pod = { securityContext: { fsGroup: 9, supplementalGroups: [2, 1], supplementalGroupsPolicy: "Merge" } };
  expect(security({}, { pod })).toMatchObject({ supplementalGroups: [9n, 2n, 1n], supplementalGroupsPolicy: "Merge" });
  const odd = { securityContext: { supplementalGroupsPolicy: "Odd" } };
  expect(failure(() => build({}, { pod: odd })).message).toBe("unsupported supplementalGroupsPolicy: Odd");
});

test("a stop signal is told only with its gate", () => {
  const container = { lifecycle: { stopSignal: "SIGUSR1" } };
  expect(build({}, { container }).stopSignal).toBeUndefined();
  const context = { featureGates: { ContainerStopSignals: true } };
  const gated = buildContainerConfig({
    pod: { metadata: {}, spec: { containers: [] } },
    node: { ...RECORDED_NODE, config: { ...RECORDED_NODE.config, ...context } },
    container: { name: "c", ...container },
    kind: "regular",
    restartCount: 0,
    imageRef: "",
    imageUser: { uid: 0n },
    podIps: [],
    objects: new Map(),
    services: [],
  });
  expect(gated.stopSignal).toBe("SIGUSR1");
});

describe("sandbox", () => {
  const sandbox = (spec: Partial<NonNullable<Pod["spec"]>>) =>
    buildSandboxConfig({
      pod: { metadata: { name: "p", namespace: "ns", uid: "u" }, spec: { containers: [{ name: "c" }], ...spec } },
      node: RECORDED_NODE,
      attempt: 3,
      cgroupParent: "/kubepods/besteffort/podu",
      hostResolvConf: "",
    }).config;

  test("is privileged when any container is, ephemeral ones included", () => {
    const securityContext = { privileged: true };
    expect(sandbox({}).linux?.securityContext?.privileged).toBe(false);
    for (const field of ["containers", "initContainers", "ephemeralContainers"]) {
      const given = sandbox({ [field]: [{ name: "x", securityContext }] });
      expect(given.linux?.securityContext?.privileged).toBe(true);
    }
  });

  test("sysctls with dots, whichever way they are written", () => {
    const sysctls = [
      { name: "net/ipv4/conf/eth0.1/forwarding", value: "1" },
      { name: "kernel.shm_rmid_forced", value: "0" },
    ];
    expect(sandbox({ securityContext: { sysctls } }).linux?.sysctls).toEqual({
      "net.ipv4.conf.eth0/1.forwarding": "1",
      "kernel.shm_rmid_forced": "0",
    });
  });

  test("ports of regular containers, each once", () => {
    const ports = [
      { containerPort: 80, hostPort: 8080, hostIP: "192.0.2.2", protocol: "TCP" },
      { containerPort: 80, hostPort: 8080, hostIP: "192.0.2.2", protocol: "TCP" },
      { name: "dns", containerPort: 53, protocol: "UDP" },
      { name: "dns", containerPort: 54, protocol: "UDP" },
    ];
    const initContainers = [{ name: "i", ports: [{ containerPort: 1 }] }];
    expect(sandbox({ containers: [{ name: "c", ports }], initContainers }).portMappings).toEqual([
      { protocol: "TCP", containerPort: 80, hostPort: 8080, hostIp: "192.0.2.2" },
      { protocol: "UDP", containerPort: 53, hostPort: 0, hostIp: "" },
    ]);
  });

  test("the attempt is its own", () => {
    expect(sandbox({}).metadata).toEqual({ name: "p", uid: "u", namespace: "ns", attempt: 3 });
  });
});

describe("mounts", () => {
  const mounts = (given: Partial<ContainerRequestContext>) =>
    buildContainerConfig({
      pod: { metadata: {}, spec: { containers: [] } },
      node: RECORDED_NODE,
      container: { name: "c", terminationMessagePath: "/dev/termination-log" },
      kind: "regular",
      restartCount: 0,
      imageRef: "",
      imageUser: { uid: 0n },
      podIps: [],
      objects: new Map(),
      services: [],
      ...given,
    }).mounts;
  const files = { etcHostsPath: "/h", terminationLogPath: "/t" };

  test("volumes, hosts file, termination log", () => {
    const volumeMounts = [{ containerPath: "/v", hostPath: "/x" }];
    expect(mounts({ ...files, volumeMounts })?.map(({ containerPath }) => containerPath)).toEqual([
      "/v",
      "/etc/hosts",
      "/dev/termination-log",
    ]);
  });

  test("a volume at /etc/hosts keeps the managed file away", () => {
    const volumeMounts = [{ containerPath: "/etc/hosts", hostPath: "/x" }];
    expect(mounts({ ...files, volumeMounts })?.map(({ hostPath }) => hostPath)).toEqual(["/x", "/t"]);
  });

  test("nothing that was not made", () => {
    expect(mounts({})).toEqual([]);
  });

  test("relabelled where SELinux holds", () => {
    const node = { ...RECORDED_NODE, selinux: true };
    expect(mounts({ ...files, node })?.every(({ selinuxRelabel }) => selinuxRelabel === true)).toBe(true);
  });
});
