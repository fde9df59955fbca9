import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringifyJson } from "../../api/index.ts";
import { isErrorOfKind } from "../../errors/index.ts";
import { decodeManifest, MAX_MANIFEST_BYTES } from "./manifest.ts";

const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: app
    image: example/web:1
`;

function decode(text: string | Uint8Array): ReturnType<typeof decodeManifest> {
  return decodeManifest({ bytes: text, source: "web.yaml" });
}

function spec(text: string): Record<string, unknown> {
  return decode(`apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n${text}`).pods[0]?.spec as unknown as Record<
    string,
    unknown
  >;
}

function failure(text: string | Uint8Array): string {
  try {
    decode(text);
  } catch (error) {
    if (isErrorOfKind(error, "invalid")) return error.message;
    throw error;
  }
  throw new Error("the manifest was accepted");
}

describe("a manifest", () => {
  it("is a Pod in YAML or in JSON", () => {
    const yaml = decode(POD);
    const json = decode(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","image":"example/web:1"}]}}',
    );
    expect(yaml.kind).toBe("Pod");
    expect(yaml.warnings).toEqual([]);
    expect(yaml.pods).toEqual(json.pods);
    expect(yaml.pods[0]?.spec?.containers[0]?.image).toBe("example/web:1");
  });

  it("is a PodList", () => {
    const list = decode(`apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n`);
    expect(list.kind).toBe("PodList");
    expect(list.pods.map((pod) => pod.metadata?.name)).toEqual(["a", "b"]);
  });

  it("may begin with a byte order mark, comments, directives and a document marker", () => {
    expect(decode(new TextEncoder().encode(`\uFEFF# a comment\n%YAML 1.1\n---\n${POD}`)).pods).toHaveLength(1);
  });

  it("may be a YAML flow mapping that is no JSON", () => {
    expect(decode("{apiVersion: v1, kind: Pod, metadata: {name: web}}").pods[0]?.metadata?.name).toBe("web");
  });

  it("counts only the first document of a stream, as the kubelet does, and says so", () => {
    const decoded = decode(`${POD}---\nthis: [is not even YAML\n`);
    expect(decoded.pods[0]?.metadata?.name).toBe("web");
    expect(decoded.warnings).toEqual([
      "web.yaml:9:1: only the first document of the file is used; put each object into a file of its own",
    ]);
    expect(decode(`---\n${POD}...\n# the end\n---\n`).warnings).toEqual([]);
  });
});

describe("YAML as Kubernetes reads it", () => {
  it("takes yes as a boolean where a boolean is wanted", () => {
    expect(spec("  hostNetwork: yes\n")["hostNetwork"]).toBe(true);
    expect(spec("  hostNetwork: off\n")["hostNetwork"]).toBe(false);
  });

  it("refuses a boolean where text is wanted, and names the field (`value: no`)", () => {
    expect(failure(`${POD}    env:\n    - name: A\n      value: no\n`)).toBe(
      'web.yaml:11:14: spec.containers[0].env[0].value: expected a string, found the boolean no (write "no" in quotes if the text is meant)',
    );
    expect(decode(`${POD}    env:\n    - name: A\n      value: "no"\n`).pods[0]?.spec?.containers[0]?.env).toEqual([
      { name: "A", value: "no" },
    ]);
  });

  it("reads 0400 as octal", () => {
    const volumes = spec("  volumes:\n  - name: v\n    secret: {secretName: s, defaultMode: 0400}\n")["volumes"];
    expect(volumes).toEqual([{ name: "v", secret: { secretName: "s", defaultMode: 256 } }]);
  });

  it("keeps integers beyond 2^53", () => {
    expect(spec("  activeDeadlineSeconds: 9007199254740993\n")["activeDeadlineSeconds"]).toBe(9007199254740993n);
    expect(
      stringifyJson(
        decode('{"apiVersion":"v1","kind":"Pod","spec":{"activeDeadlineSeconds":9223372036854775807}}').pods[0],
      ),
    ).toContain("9223372036854775807");
  });

  it("takes the last of two equal keys and says so", () => {
    const decoded = decode(
      `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  hostNetwork: true\n  containers: [{name: a}]\n  hostNetwork: true\n  containers: [{name: b}]\n`,
    );
    expect(decoded.pods[0]?.spec?.containers.map((container) => container.name)).toEqual(["b"]);
    expect(decoded.warnings).toEqual([
      'web.yaml:7:3: the key "hostNetwork" is written twice; the last one counts',
      'web.yaml:8:3: the key "containers" is written twice; the last one counts',
    ]);
  });

  it("takes __proto__ and constructor as data", () => {
    const labels =
      decode(`apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    __proto__: a\n    constructor: b\n    "1": c\n`)
        .pods[0]?.metadata?.labels ?? {};
    expect(Object.entries(labels)).toEqual(
      expect.arrayContaining([
        ["__proto__", "a"],
        ["constructor", "b"],
        ["1", "c"],
      ]),
    );
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
    const json = decode(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"__proto__":"a"}},"__proto__":{"spec":1}}',
    );
    expect(Object.entries(json.pods[0]?.metadata?.labels ?? {})).toEqual([["__proto__", "a"]]);
    expect(json.warnings).toHaveLength(1);
  });

  it("follows anchors, aliases and merge keys", () => {
    const containers = spec(`  containers:\n  - &base {name: a, image: i, tty: true}\n  - <<: *base\n    name: b\n`)[
      "containers"
    ];
    expect(containers).toEqual([
      { name: "a", image: "i", tty: true },
      { name: "b", image: "i", tty: true },
    ]);
  });

  it("takes quantities as numbers or text, in canonical form", () => {
    const resources = "  containers:\n  - name: a\n    resources: {limits: {cpu: 0.5, memory: 1.5Gi, pods: 3}}\n";
    expect(spec(resources)["containers"]).toEqual([
      { name: "a", resources: { limits: { cpu: "500m", memory: "1536Mi", pods: "3" } } },
    ]);
  });

  it("takes ports as numbers or names, and null as absence", () => {
    const probe =
      "  hostname:\n  containers:\n  - name: a\n    image: ~\n    readinessProbe: {httpGet: {port: web}}\n    livenessProbe: {tcpSocket: {port: 80}}\n";
    expect(spec(probe)).toEqual({
      containers: [
        { name: "a", readinessProbe: { httpGet: { port: "web" } }, livenessProbe: { tcpSocket: { port: 80 } } },
      ],
    });
  });

  it("warns of unknown fields with their place, and of the wrong case", () => {
    const decoded = decode(`${POD}    imagepullpolicy: Never\n    colour: red\n`);
    expect(decoded.warnings).toEqual([
      'web.yaml:9:5: spec.containers[0].imagepullpolicy: unknown field, ignored; did you mean "imagePullPolicy"?',
      "web.yaml:10:5: spec.containers[0].colour: unknown field, ignored",
    ]);
    expect(decoded.pods[0]?.spec?.containers[0]).toEqual({ name: "app", image: "example/web:1" });
  });
});

describe("a bad manifest", () => {
  const rows: [text: string, message: string][] = [
    ["", "web.yaml: the file is empty; expected a Pod in YAML or JSON"],
    [" \n\t\n", "web.yaml: the file is empty; expected a Pod in YAML or JSON"],
    ["# nothing here\n", "web.yaml: there is nothing but comments; expected a Pod in YAML or JSON"],
    ["---\n---\n", "web.yaml:1:1: expected an object of kind Pod, found a single value"],
    ["- a\n", "web.yaml:1:1: expected an object of kind Pod, found a list"],
    ["apiVersion: v1\n", 'web.yaml:1:1: kind: expected "Pod", found nothing'],
    ["apiVersion: v1\nkind: Deployment\n", 'web.yaml:2:7: kind: expected "Pod", found "Deployment"'],
    ["kind: Pod\napiVersion: v2\n", 'web.yaml:2:13: apiVersion: expected "v1", found "v2"'],
    ["a: b\n c: d\n", "web.yaml:2:3: bad indentation of a mapping entry"],
    ["a: &x [*x]\n", 'web.yaml:1:9: anchor "x" contains itself'],
    ["a: *gone\n", 'web.yaml:1:5: no anchor "gone" before this alias'],
    ["a: !!binary aGk=\n", "web.yaml:1:4: the tag !!binary has no meaning here"],
    ["a: .inf\n", "web.yaml:1:4: the number .inf has no JSON form"],
    ["? [a]\n: b\n", "web.yaml:1:3: a key must be a plain value"],
    ['{"apiVersion": "v1",\n "kind" "Pod"}', 'web.yaml:2:9: expected ":", found "\\""'],
    [
      `${POD}    tty: "true"\n`,
      'web.yaml:9:10: spec.containers[0].tty: expected a boolean (true or false), found the string "true"',
    ],
    [
      `${POD}    ports: [{containerPort: 8080.5}]\n`,
      'web.yaml:9:29: spec.containers[0].ports[0].containerPort: expected a whole number of 32 bits, found the number 8080.5 (write "8080.5" in quotes if the text is meant)',
    ],
    [
      `${POD}    ports: [{containerPort: 4294967296}]\n`,
      'web.yaml:9:29: spec.containers[0].ports[0].containerPort: expected a whole number of 32 bits, found the number 4294967296 (write "4294967296" in quotes if the text is meant)',
    ],
    [`${POD}    args: start\n`, 'web.yaml:9:11: spec.containers[0].args: expected a list, found the string "start"'],
    [
      `${POD}    resources: {limits: {cpu: lots}}\n`,
      'web.yaml:9:31: spec.containers[0].resources.limits.cpu: expected a quantity such as 100m, 1.5 or 64Mi, found the string "lots"',
    ],
    [
      `${POD}  terminationGracePeriodSeconds: 9223372036854775808\n`,
      'web.yaml:9:34: spec.terminationGracePeriodSeconds: expected a whole number of 64 bits, found the number 9223372036854775808 (write "9223372036854775808" in quotes if the text is meant)',
    ],
    [
      "apiVersion: v1\nkind: Pod\nmetadata: [a]\n",
      "web.yaml:3:11: metadata: expected a mapping (an object), found a list",
    ],
  ];
  it.each(rows.map(([text, message]) => [message, text]))("%s", (message, text) => {
    expect(failure(text)).toBe(message);
  });

  it("names every wrong field at once", () => {
    expect(failure(`${POD}    tty: 1\n    stdin: 2\n`).split("; ")).toHaveLength(2);
  });

  it("is refused when it is too large or not UTF-8", () => {
    expect(failure(new Uint8Array(MAX_MANIFEST_BYTES + 1))).toBe(
      `web.yaml: ${MAX_MANIFEST_BYTES + 1} bytes is too much for a manifest; at most ${MAX_MANIFEST_BYTES} are read`,
    );
    expect(failure(new Uint8Array([0x61, 0xff, 0xfe]))).toBe(
      "web.yaml: the text is not UTF-8; is it a manifest at all?",
    );
  });

  it("cannot grow without bound by aliases (billion laughs)", () => {
    const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let level = 1; level < 12; level++)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(",")}]`,
      );
    const annotations = `apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, args: *a11}]}\n`;
    expect(failure(`${lines.join("\n")}\n${annotations}`)).toMatch(/expected a string, found a list/);
    const wide = `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - &c {name: a, args: [${Array(2000).fill("x").join(",")}]}\n${"  - *c\n".repeat(2000)}`;
    expect(failure(wide)).toMatch(/the manifest is too large once its aliases are followed/);
  });

  it("cannot grow by aliases in fields that nobody knows", () => {
    const lines = ["x0: &x0 {a: b}"];
    for (let level = 1; level < 9; level++) {
      lines.push(
        `x${level}: &x${level} {${Array.from({ length: 20 }, (_, index) => `k${index}: *x${level - 1}`).join(", ")}}`,
      );
    }
    expect(failure(`apiVersion: v1\nkind: Pod\n${lines.join("\n")}\n`)).toMatch(
      /the manifest is too large once its aliases are followed/,
    );
  });

  it("cannot be nested without bound", () => {
    expect(failure(`a: ${"[".repeat(5000)}`)).toMatch(/web\.yaml:1:\d+: /);
    expect(failure(`{"a": ${"[".repeat(5000)}${"]".repeat(5000)}}`)).toMatch(/web\.yaml.*(deep|depth)/);
  });
});

describe("decoding", () => {
  const fragments = [
    "a",
    "- ",
    ": ",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "&x ",
    "*x",
    "!!int ",
    "kind: Pod\n",
    "apiVersion: v1\n",
    "---\n",
    "...",
    "|",
    ">",
    "#",
    "? ",
    "<<: ",
    "\t",
    "spec:\n",
    "containers:\n",
    "\\u",
    "%",
  ];

  it("answers pods or throws invalid, whatever the text", () => {
    const soup = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join("")),
      fc
        .tuple(fc.nat(POD.length), fc.constantFrom(...fragments))
        .map(([at, part]) => POD.slice(0, at) + part + POD.slice(at)),
      fc.uint8Array({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(soup, (text) => {
        const outcome = ((): unknown => {
          try {
            return decode(text).pods;
          } catch (error) {
            return isErrorOfKind(error, "invalid") && error.message.startsWith("web.yaml") ? [] : error;
          }
        })();
        expect(outcome).toBeInstanceOf(Array);
      }),
      { numRuns: 2000 },
    );
  });

  it("reads any JSON value of an annotation as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (annotations) => {
        const text = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { annotations } });
        expect(Object.entries(decode(text).pods[0]?.metadata?.annotations ?? {})).toEqual(Object.entries(annotations));
      }),
    );
  });
});
