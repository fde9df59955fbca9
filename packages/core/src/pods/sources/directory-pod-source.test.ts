import { MemoryLogger, VirtualClock } from "@nodelet/testkit";
import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "../../api/index.ts";
import type { Decision } from "../../decisions/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { DirectoryPodSource } from "./directory-pod-source.ts";
import { ManifestFolder } from "./manifest-folder.test-support.ts";

const SCAN_MS = 20_000;

function manifest(
  name: string,
  { image = "web:1", extra = "" }: { readonly image?: string; readonly extra?: string } = {},
): string {
  return `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: app\n    image: ${image}\n${extra}`;
}

const running: AbortController[] = [];
afterEach(() => {
  for (const controller of running.splice(0)) controller.abort();
});

function setUp(prepare: (folder: ManifestFolder) => void = () => undefined) {
  const clock = new VirtualClock();
  const folder = new ManifestFolder(clock);
  prepare(folder);
  const sets: (readonly Pod[])[] = [];
  const faults: string[] = [];
  const logger = new MemoryLogger();
  const start = (): AbortController => {
    const controller = new AbortController();
    running.push(controller);
    const source = new DirectoryPodSource({
      watch: folder,
      clock,
      logger,
      path: folder.path,
      nodeName: "n1",
      fileCheckFrequencyMs: SCAN_MS,
    });
    const decisions = { record: (decision: Decision) => faults.push(decision.message) };
    void source.run({ onPods: (pods) => sets.push(pods), decisions, signal: controller.signal });
    return controller;
  };
  const names = (): (string | undefined)[] => (sets.at(-1) ?? []).map((pod) => pod.metadata?.name);
  const images = (): (string | undefined)[] => (sets.at(-1) ?? []).map((pod) => pod.spec?.containers[0]?.image);
  return { clock, folder, sets, faults, logger, start, names, images };
}

describe("a manifest directory", () => {
  it("gives a pod a file, in sorted order, at once when the files rest", async () => {
    const { clock, start, sets, names } = setUp((folder) => {
      folder.write(
        "b.json",
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
        { ageMs: 60_000 },
      );
      folder.write("a", manifest("a"), { ageMs: 60_000 });
    });
    start();
    await clock.advance(1);
    expect(names()).toEqual(["a-n1", "b-n1"]);
    expect(sets).toHaveLength(1);
  });

  it("that is empty or absent is ready with no pods", async () => {
    for (const kind of ["directory", "absent"] as const) {
      const { clock, start, sets } = setUp((folder) => {
        folder.kind = kind;
      });
      start();
      await clock.advance(1);
      expect(sets).toEqual([[]]);
    }
  });

  it("leaves out hidden files, directories and what is no file", async () => {
    const { clock, start, names, faults } = setUp((folder) => {
      folder.write("web.yaml", manifest("web"), { ageMs: 60_000 });
      folder.write(".web.yaml.swp", "b0VIM\u0000\u0001", { ageMs: 60_000 });
      folder.write("sub", "", { type: "directory" });
      folder.write("pipe", "", { type: "other" });
    });
    start();
    await clock.advance(2 * SCAN_MS);
    expect(names()).toEqual(["web-n1"]);
    expect(faults).toEqual(["/etc/manifests/pipe is not a file that can be read; it is left out"]);
  });

  it("takes the first of two files for one pod, tells of the other once, and chooses the same after a restart", async () => {
    const { clock, start, sets, images, faults } = setUp((folder) => {
      folder.write("web.yaml.bak", manifest("web", { image: "web:0" }), { ageMs: 60_000 });
      folder.write("web.yaml", manifest("web"), { ageMs: 60_000 });
    });
    const first = start();
    await clock.advance(3 * SCAN_MS);
    first.abort();
    start();
    await clock.advance(3 * SCAN_MS);
    expect(images()).toEqual(["web:1"]);
    expect(sets).toHaveLength(2);
    expect(faults).toHaveLength(2);
    expect(faults[0]).toBe(
      "/etc/manifests/web.yaml.bak is ignored: /etc/manifests/web.yaml already gives the pod default/web-n1, and the first file in sorted order counts; remove or hide one of them",
    );
  });

  it("finds new, changed and removed files soon after a hint", async () => {
    const { clock, folder, start, names, images } = setUp();
    start();
    await clock.advance(1000);
    folder.write("web.yaml", manifest("web"));
    await clock.advance(100);
    expect(names()).toEqual(["web-n1"]);
    folder.write("web.yaml", manifest("web", { image: "web:2" }));
    await clock.advance(100);
    expect(images()).toEqual(["web:2"]);
    folder.remove("web.yaml");
    await clock.advance(300);
    expect(names()).toEqual([]);
  });

  it("finds them by its regular scan when there are no hints", async () => {
    const { clock, folder, start, names } = setUp((prepared) => {
      prepared.hints = false;
    });
    start();
    await clock.advance(60_000);
    folder.write("web.yaml", manifest("web"));
    await clock.advance(SCAN_MS + 100);
    expect(names()).toEqual(["web-n1"]);
  });

  it("tells nothing when a file is written again with the same content", async () => {
    const { clock, folder, start, sets } = setUp();
    start();
    folder.write("web.yaml", manifest("web"));
    await clock.advance(1000);
    const before = sets.length;
    const [pod] = sets.at(-1) ?? [];
    folder.write("web.yaml", manifest("web"));
    await clock.advance(SCAN_MS);
    folder.write("web.yaml", `# reformatted\n${manifest("web")}`);
    await clock.advance(SCAN_MS);
    folder.write("copy", manifest("web"), { ageMs: 5000 });
    folder.rename({ from: "copy", to: "web.yaml" });
    await clock.advance(SCAN_MS);
    expect(sets).toHaveLength(before);
    folder.write("other.yaml", manifest("other"));
    await clock.advance(1000);
    expect(sets).toHaveLength(before + 1);
    expect(sets.at(-1)?.[1]).toBe(pod);
  });

  it("reads a file once, not at every scan", async () => {
    const { clock, folder, start } = setUp((prepared) =>
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 }),
    );
    start();
    await clock.advance(10 * SCAN_MS);
    expect(folder.reads).toEqual(["web.yaml"]);
    expect(folder.looks).toBeGreaterThanOrEqual(10);
  });
});

describe("a half-written manifest", () => {
  it("is no pod until all of it is there, and harms no neighbour", async () => {
    const { clock, folder, start, sets, names } = setUp((prepared) => {
      prepared.write("a.yaml", manifest("a"), { ageMs: 60_000 });
      prepared.write("b.yaml", manifest("b"), { ageMs: 60_000 });
    });
    start();
    await clock.advance(1000);
    folder.write("web.yaml", "");
    await clock.advance(1000);
    // Half of it is a valid pod by itself, and ends with a line's end.
    folder.append("web.yaml", manifest("web"));
    await clock.advance(1000);
    folder.append("web.yaml", "  - name: second\n    image: web:1\n");
    await clock.advance(SCAN_MS);
    expect(names()).toEqual(["a-n1", "b-n1", "web-n1"]);
    expect(sets.map((set) => set.length)).toEqual([2, 3]);
    expect(sets.at(-1)?.[2]?.spec?.containers).toHaveLength(2);
  });

  it("that breaks off in the middle of a line waits longer", async () => {
    const { clock, folder, start, names, images } = setUp();
    start();
    await clock.advance(1000);
    folder.write("web.yaml", manifest("web", { image: "web:12" }).trimEnd().slice(0, -1));
    await clock.advance(1000);
    expect(names()).toEqual([]);
    folder.write("web.yaml", manifest("web", { image: "web:12" }));
    await clock.advance(2000);
    expect(images()).toEqual(["web:12"]);
  });

  it("does not disturb the pod that the file gave before", async () => {
    const { clock, folder, start, sets, images } = setUp((prepared) =>
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 }),
    );
    start();
    await clock.advance(1000);
    folder.write("web.yaml", "");
    await clock.advance(1000);
    folder.append("web.yaml", "apiVersion: v1\nkind: Pod\n");
    await clock.advance(1000);
    folder.write("web.yaml", manifest("web", { image: "web:2" }));
    await clock.advance(5000);
    expect(images()).toEqual(["web:2"]);
    expect(sets).toHaveLength(2);
  });

  it("is waited for before the first set is told", async () => {
    const { clock, folder, start, sets } = setUp((prepared) => {
      prepared.write("a.yaml", manifest("a"), { ageMs: 60_000 });
      prepared.write("web.yaml", manifest("web").trimEnd());
    });
    start();
    await clock.advance(1000);
    expect(sets).toEqual([]);
    folder.write("web.yaml", manifest("web"));
    await clock.advance(2000);
    expect(sets.map((set) => set.length)).toEqual([2]);
  });
});

describe("a bad manifest", () => {
  it("is told once, with its place, and harms no neighbour", async () => {
    const { clock, folder, start, names, faults } = setUp((prepared) => {
      prepared.write("bad.yaml", manifest("bad", { extra: "    env:\n    - name: A\n      value: no\n" }), {
        ageMs: 60_000,
      });
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 });
    });
    start();
    await clock.advance(5 * SCAN_MS);
    expect(names()).toEqual(["web-n1"]);
    const fault =
      'Could not process manifest file: /etc/manifests/bad.yaml:11:14: spec.containers[0].env[0].value: expected a string, found the boolean no (write "no" in quotes if the text is meant)';
    expect(faults).toEqual([fault]);
    folder.write("bad.yaml", manifest("bad", { extra: '    env:\n    - name: A\n      value: "no"\n' }));
    await clock.advance(1000);
    expect(names()).toEqual(["bad-n1", "web-n1"]);
  });

  it("is told again when the file comes back after it went", async () => {
    const { clock, folder, faults, start } = setUp();
    start();
    for (let turn = 0; turn < 2; turn += 1) {
      folder.write("bad.yaml", "kind: [\n");
      await clock.advance(2 * SCAN_MS);
      folder.remove("bad.yaml");
      await clock.advance(2 * SCAN_MS);
    }
    expect(faults).toHaveLength(2);
  });

  it("that refers to API objects is refused, and the neighbours run", async () => {
    const { clock, start, names, faults } = setUp((folder) => {
      folder.write("account.yaml", manifest("account", { extra: "  serviceAccountName: default\n" }), {
        ageMs: 60_000,
      });
      folder.write("secret.yaml", manifest("secret", { extra: "  volumes: [{name: v, secret: {secretName: s}}]\n" }), {
        ageMs: 60_000,
      });
      folder.write("map.yaml", manifest("map", { extra: "    envFrom: [{configMapRef: {name: c}}]\n" }), {
        ageMs: 60_000,
      });
      folder.write("web.yaml", manifest("web"), { ageMs: 60_000 });
    });
    start();
    await clock.advance(1000);
    expect(names()).toEqual(["web-n1"]);
    expect(faults.sort().map((fault) => fault.replace(/.*: (spec\.)/, "$1"))).toEqual([
      "spec.serviceAccountName: static pods may not reference serviceaccounts",
      "spec.containers[0].envFrom[0].configMapRef: static pods may not reference configmaps",
      "spec.volumes[0].secret: static pods may not reference secrets (via secret volumes)",
    ]);
  });

  it("takes its pod down after one scan period, as upstream's next scan would", async () => {
    const { clock, folder, start, names } = setUp((prepared) =>
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 }),
    );
    start();
    await clock.advance(1000);
    folder.write("web.yaml", "kind: Pod\n");
    await clock.advance(SCAN_MS - 1000);
    expect(names()).toEqual(["web-n1"]);
    await clock.advance(2000);
    expect(names()).toEqual([]);
  });
});

describe("the path", () => {
  it("that cannot be looked at keeps its pods", async () => {
    const { clock, folder, start, sets, faults } = setUp((prepared) =>
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 }),
    );
    start();
    await clock.advance(1000);
    folder.fault = new NodeletError("unavailable", "input/output error");
    await clock.advance(5 * SCAN_MS);
    expect(sets).toHaveLength(1);
    expect(faults).toEqual(["Unable to read the manifest path /etc/manifests: input/output error"]);
  });

  it("that vanishes is told, and its pods go", async () => {
    const { clock, folder, start, names, faults } = setUp((prepared) =>
      prepared.write("web.yaml", manifest("web"), { ageMs: 60_000 }),
    );
    start();
    await clock.advance(1000);
    folder.kind = "absent";
    await clock.advance(SCAN_MS + 2000);
    expect(names()).toEqual([]);
    expect(faults).toEqual([
      "The manifest path /etc/manifests does not exist; no static pods are wanted until it does",
    ]);
    folder.kind = "directory";
    await clock.advance(SCAN_MS + 2000);
    expect(names()).toEqual(["web-n1"]);
  });

  it("that is neither file nor directory is told and tried again", async () => {
    const { clock, folder, start, sets, faults } = setUp((prepared) => {
      prepared.kind = "other";
    });
    start();
    await clock.advance(3 * SCAN_MS);
    expect(sets).toEqual([]);
    expect(faults).toEqual(["The manifest path /etc/manifests is not a directory or file; make it one of them"]);
    folder.kind = "directory";
    await clock.advance(SCAN_MS);
    expect(sets).toEqual([[]]);
  });

  it("may be one file, whose pod outlives a bad edit", async () => {
    const { clock, folder, start, sets, names } = setUp((prepared) => {
      prepared.kind = "file";
      prepared.write("manifests", manifest("web"), { ageMs: 60_000 });
    });
    start();
    await clock.advance(1000);
    expect(names()).toEqual(["web-n1"]);
    folder.write("manifests", "nonsense\n");
    await clock.advance(10 * SCAN_MS);
    expect(sets).toHaveLength(1);
  });

  it("that is one bad file is never told as an empty set", async () => {
    const { clock, start, sets, faults } = setUp((prepared) => {
      prepared.kind = "file";
      prepared.write("manifests", "nonsense\n", { ageMs: 60_000 });
    });
    start();
    await clock.advance(10 * SCAN_MS);
    expect(sets).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});

it("is looked at ten times a second at most while something writes into it all the time", async () => {
  const { clock, folder, start } = setUp((files) => files.write("a", manifest("a"), { ageMs: 60_000 }));
  start();
  await clock.advance(1000);
  const before = folder.looks;
  for (let turn = 0; turn < 1000; turn += 1) {
    folder.write(".download", "x".repeat(turn));
    await clock.advance(5);
  }
  expect(folder.looks - before).toBeLessThanOrEqual(51);
});

it("leaves no timer behind when it is stopped", async () => {
  const { clock, start } = setUp((folder) => folder.write("web.yaml", manifest("web").trimEnd()));
  const controller = start();
  await clock.advance(500);
  controller.abort();
  await clock.settle();
  expect(clock.pendingTimers).toBe(0);
});
