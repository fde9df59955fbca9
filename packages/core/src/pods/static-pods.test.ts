import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isErrorOfKind } from "../errors/index.ts";
import { fnv128a } from "./fnv128.ts";
import { decodeStaticPods, type StaticPodOrigin } from "./static-pods.ts";

const FILE: StaticPodOrigin = { kind: "file", location: "/etc/manifests/web.yaml" };
const URL_ORIGIN: StaticPodOrigin = { kind: "url", location: "https://config.example/pods" };

function manifest(extra = ""): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: example/web:1\n${extra}`;
}

function decode(text: string, options: { readonly origin?: StaticPodOrigin; readonly nodeName?: string } = {}) {
  return decodeStaticPods({ bytes: text, origin: options.origin ?? FILE, nodeName: options.nodeName ?? "node-a" }).pods;
}

function uid(text: string, options: { readonly origin?: StaticPodOrigin; readonly nodeName?: string } = {}): string {
  return decode(text, options)[0]?.metadata?.uid ?? "";
}

function failure(text: string, origin = FILE): string {
  try {
    decode(text, { origin });
  } catch (error) {
    if (isErrorOfKind(error, "invalid")) return error.message;
    throw error;
  }
  throw new Error("the manifest was accepted");
}

describe("a static pod", () => {
  it("gets UID, name, namespace, node, annotation, toleration and phase", () => {
    const [pod] = decode(manifest());
    const id = pod?.metadata?.uid ?? "";
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(pod?.metadata).toEqual({
      name: "web-node-a",
      namespace: "default",
      uid: id,
      annotations: { "kubernetes.io/config.hash": id },
    });
    expect(pod?.spec?.nodeName).toBe("node-a");
    expect(pod?.spec?.tolerations).toEqual([{ operator: "Exists", effect: "NoExecute" }]);
    expect(pod?.status).toEqual({ phase: "Pending" });
  });

  it("of a URL tolerates nothing by itself", () => {
    expect(decode(manifest(), { origin: URL_ORIGIN })[0]?.spec?.tolerations).toBeUndefined();
  });

  it("keeps a UID and a namespace that the manifest gives", () => {
    const [pod] = decode(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: kube-system, uid: u-1}\nspec: {containers: [{name: a, image: i}]}\n",
    );
    expect(pod?.metadata?.uid).toBe("u-1");
    expect(pod?.metadata?.namespace).toBe("kube-system");
    expect(pod?.metadata?.annotations?.["kubernetes.io/config.hash"]).toBe("u-1");
  });

  it("has a UID of what it says, where it stands and where it runs", () => {
    const original = uid(manifest());
    expect(uid(manifest())).toBe(original);
    // The same pod in another format, in another order, with defaults written out.
    expect(
      uid(
        "# moved\nkind: Pod\napiVersion: v1\nspec: {containers: [{image: 'example/web:1', name: app, terminationMessagePolicy: File}], dnsPolicy: ClusterFirst}\nmetadata: {name: web}\n",
      ),
    ).toBe(original);
    expect(
      uid(
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"containers":[{"image":"example/web:1","name":"app"}]}}',
      ),
    ).toBe(original);
    expect(uid(manifest("    tty: true\n"))).not.toBe(original);
    expect(uid(manifest(), { nodeName: "node-b" })).not.toBe(original);
    expect(uid(manifest(), { origin: { ...FILE, location: "/etc/manifests/other.yaml" } })).not.toBe(original);
    expect(uid(manifest(), { origin: URL_ORIGIN })).not.toBe(original);
  });

  it("has the same UID whatever the order of its members", () => {
    const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z0-9]{0,8}$/));
    fc.assert(
      fc.property(labels, fc.infiniteStream(fc.nat()), (given, randomness) => {
        const body = (entries: [string, string][]): string =>
          JSON.stringify({
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name: "web", labels: Object.fromEntries(entries) },
            spec: { containers: [{ name: "a", image: "i" }] },
          });
        const entries = Object.entries(given);
        const shuffled = entries
          .map((entry) => ({ entry, rank: randomness.next().value ?? 0 }))
          .sort((left, right) => left.rank - right.rank)
          .map(({ entry }) => entry);
        expect(uid(JSON.stringify(JSON.parse(body(shuffled)), null, 3))).toBe(uid(body(entries)));
      }),
    );
  });

  it.each([
    ["  serviceAccountName: default\n", "spec.serviceAccountName", "serviceaccounts", "9:23"],
    ["  imagePullSecrets: [{name: s}]\n", "spec.imagePullSecrets[0]", "secrets", "9:22"],
    [
      "    env:\n    - name: A\n      valueFrom: {configMapKeyRef: {name: c, key: k}}\n",
      "spec.containers[0].env[0].valueFrom.configMapKeyRef",
      "configmaps",
      "11:36",
    ],
    ["    envFrom:\n    - secretRef: {name: s}\n", "spec.containers[0].envFrom[0].secretRef", "secrets", "10:18"],
    [
      "  volumes:\n  - name: v\n    secret: {secretName: s}\n",
      "spec.volumes[0].secret",
      "secrets (via secret volumes)",
      "11:13",
    ],
    [
      "  volumes:\n  - name: v\n    persistentVolumeClaim: {claimName: c}\n",
      "spec.volumes[0].persistentVolumeClaim",
      "persistentvolumeclaims",
      "11:28",
    ],
    [
      "  volumes:\n  - name: v\n    projected: {sources: [{configMap: {name: c}}]}\n",
      "spec.volumes[0].projected.sources[0].configMap",
      "configmaps (via projected volumes)",
      "11:39",
    ],
    ["  resourceClaims: [{name: r, resourceClaimName: c}]\n", "spec.resourceClaims", "resourceclaims", "9:19"],
  ])("may not refer to API objects: %s", (extra, path, resource, place) => {
    expect(failure(manifest(extra))).toBe(
      `invalid pod: /etc/manifests/web.yaml:${place}: ${path}: static pods may not reference ${resource}`,
    );
  });

  it("may use volumes and fields that need no API server", () => {
    const volumes =
      "  volumes:\n  - name: v\n    projected: {sources: [{downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}]}\n  - name: h\n    hostPath: {path: /etc}\n";
    expect(decode(manifest(volumes))).toHaveLength(1);
  });

  it("is validated, with the place of each fault", () => {
    expect(failure(manifest("  restartPolicy: Sometimes\n  - name: x\n").replace("  - name: x\n", ""))).toBe(
      'invalid pod: /etc/manifests/web.yaml:9:18: spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    );
    expect(failure("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {}\n")).toBe(
      "invalid pod: /etc/manifests/web.yaml:4:7: spec.containers: Required value",
    );
    expect(failure("apiVersion: v1\nkind: Pod\nspec: {}\n")).toMatch(
      /metadata\.name: Required value: name is needed for the pod$/,
    );
  });

  it.each(["../../x", "a_b", "a/b"])("may not give the UID %j, which names directories and cgroups", (given) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: ${given}}\nspec: {containers: [{name: a, image: i}]}\n`;
    expect(failure(text)).toContain(
      `/etc/manifests/web.yaml:3:28: metadata.uid: Invalid value: "${given}": must consist of`,
    );
  });

  it("comes one a file, but a URL may answer a list", () => {
    const list =
      '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}},{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}]}}]}';
    expect(failure(list)).toBe(
      "/etc/manifests/web.yaml: expected one Pod, found a PodList; put each pod into a file of its own",
    );
    expect(decode(list, { origin: URL_ORIGIN }).map((pod) => pod.metadata?.name)).toEqual(["a-node-a", "b-node-a"]);
  });
});

describe("FNV-1a 128", () => {
  // Test vectors of the FNV specification (draft-eastlake-fnv, appendix).
  it.each([
    ["", "6c62272e07bb014262b821756295c58d"],
    ["a", "d228cb696f1a8caf78912b704e4a8964"],
    ["foobar", "343e1662793c64bf6f0d3597ba446f18"],
  ])("of %j is %s", (text, hash) => {
    expect(fnv128a(text)).toBe(hash);
  });

  it("is what the definition says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        let hash = 0x6c62272e07bb014262b821756295c58dn;
        for (const byte of new TextEncoder().encode(text)) {
          hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * 0x0000000001000000000000000000013bn);
        }
        expect(fnv128a(text)).toBe(hash.toString(16).padStart(32, "0"));
      }),
    );
  });
});
