import { InMemoryImages, VirtualClock } from "@nodelet/testkit";
import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../api/index.ts";
import type { Decision } from "../decisions/decision.ts";
import { NodeletError } from "../errors/index.ts";
import type { ImageService } from "../ports/image-service.ts";
import { loadRecording } from "../runtime/requests/recordings.test-support.ts";
import { ImageManager } from "./image-manager.ts";

const CONFIG = { serializeImagePulls: true, maxParallelImagePulls: undefined, registryPullQps: 0, registryBurst: 0 };
const SANDBOX = { metadata: { name: "p", uid: "u", namespace: "ns", attempt: 0 } };
const REFUSED =
  'failed to pull and unpack image "localhost/absent:1": failed to resolve image: failed to do request: Head "https://localhost/v2/absent/manifests/1": dial tcp 127.0.0.1:443: connect: connection refused';

function setUp(
  options: Partial<ConstructorParameters<typeof InMemoryImages>[0]> = {},
  wrap = (images: ImageService) => images,
) {
  const clock = new VirtualClock();
  const images = new InMemoryImages({
    clock,
    present: [{ reference: "localhost/busybox:1.35", uid: 7n }],
    pullable: [{ reference: "localhost/far:1", sizeBytes: 4096n, username: "app" }],
    pullMs: () => 796,
    ...options,
  });
  const told: Decision[] = [];
  const decisions = { record: (decision: Decision) => void told.push(decision) };
  const manager = new ImageManager({ config: CONFIG, ports: { images: wrap(images), clock }, decisions });
  const ensure = async (container: Partial<Container>, extra: { pod?: Partial<Pod>; signal?: AbortSignal } = {}) => {
    const whole: Container = { name: "c", ...container };
    const metadata = { name: "p", namespace: "ns", uid: "u", annotations: { note: "x" } };
    const pod: Pod = { metadata, spec: { containers: [whole] }, ...extra.pod };
    const signal = extra.signal === undefined ? {} : { signal: extra.signal };
    return clock.drive(
      manager
        .ensureImage({ pod, container: whole, sandboxConfig: SANDBOX, ...signal })
        .catch((error: unknown) => NodeletError.from(error)),
    );
  };
  const events = () => told.flatMap(({ event }) => (event === undefined ? [] : [event]));
  return { clock, images, manager, told, ensure, events };
}

const shown = (outcome: unknown) => {
  const error = outcome as NodeletError;
  return { reason: error.reason, message: error.message };
};

describe("as recorded", () => {
  test("an image that is there", async () => {
    const { ensure, events, images } = setUp();
    const given = await ensure({ image: "localhost/busybox:1.35", imagePullPolicy: "IfNotPresent" });
    const { events: recorded } = loadRecording("cmd-plain");
    expect(events()).toEqual(recorded.slice(0, 1).map(({ type, reason, message }) => ({ type, reason, message })));
    expect(given).toMatchObject({ imageRef: images.resolve("localhost/busybox:1.35")?.id, image: { uid: 7n } });
    expect(images.calls).toEqual([]);
  });

  test.each(["out-badimage", "out-never"])("%s", async (name) => {
    const { pod, status, events: recorded } = loadRecording(name);
    const { ensure, events } = setUp();
    const thrown = await ensure(pod.spec?.containers[0] ?? {}, { pod });
    expect(shown(thrown)).toEqual(status.containerStatuses?.[0]?.state?.waiting);
    // The second event of the recording says what failed with the image: the executor's.
    const [first, second] = recorded.map(({ type, reason, message }) => ({ type, reason, message }));
    expect(events()).toEqual([first]);
    expect(second).toEqual({ type: "Warning", reason: "Failed", message: `Error: ${shown(thrown).reason}` });
  });

  test("out-noimage: two pulls, 10 s apart, and the back-off after each", async () => {
    const { pod, cri, status, events: recorded } = loadRecording("out-noimage");
    const refuse = (images: InMemoryImages) =>
      images.failPull({ reference: "localhost/absent:1", error: new NodeletError("internal", REFUSED) });
    const { clock, images, ensure, events } = setUp();
    refuse(images);
    const container = pod.spec?.containers[0] ?? {};
    const outcomes = [await ensure(container, { pod }), await ensure(container, { pod })];
    await clock.advance(10_000);
    outcomes.push(await ensure(container, { pod }), await ensure(container, { pod }));
    expect(outcomes.map((outcome) => shown(outcome).reason)).toEqual([
      "ErrImagePull",
      "ImagePullBackOff",
      "ErrImagePull",
      "ImagePullBackOff",
    ]);
    expect(shown(outcomes[1])).toEqual(status.containerStatuses?.[0]?.state?.waiting);
    expect(shown(outcomes[0]).message).toBe(REFUSED);
    const own = recorded.filter(({ message }) => !message.startsWith("Error: "));
    const told = events().map(({ type, reason, message }) => JSON.stringify([type, reason, message]));
    expect([...new Set(told)]).toEqual(own.map(({ type, reason, message }) => JSON.stringify([type, reason, message])));
    expect(told).toHaveLength(6);
    const asked = cri.filter(({ call }) => call === "PullImage").map(({ request }) => request["image"]);
    expect(images.calls.map(({ request }) => (request as { image: unknown }).image)).toEqual(asked);
  });
});

describe("by policy", () => {
  const far = "localhost/far:1";
  test("IfNotPresent pulls what is absent, once", async () => {
    const { images, ensure, events } = setUp();
    const first = await ensure({ image: far, imagePullPolicy: "IfNotPresent" });
    await ensure({ image: far, imagePullPolicy: "IfNotPresent" });
    expect(images.calls).toHaveLength(1);
    expect(first).toMatchObject({ imageRef: images.resolve(far)?.id, image: { username: "app" } });
    expect(events().map(({ message }) => message)).toEqual([
      'Pulling image "localhost/far:1"',
      'Successfully pulled image "localhost/far:1" in 796ms (796ms including waiting). Image size: 4096 bytes.',
      'Container image "localhost/far:1" already present on machine and can be accessed by the pod',
    ]);
  });

  test("Always pulls what is there", async () => {
    const { images, ensure } = setUp({ present: [far] });
    await ensure({ image: far, imagePullPolicy: "Always" });
    await ensure({ image: far, imagePullPolicy: "Always" });
    expect(images.calls).toHaveLength(2);
  });

  test.each([
    [far, 0],
    ["localhost/far", 1],
    ["localhost/far:latest", 1],
  ])("without a policy the tag decides: %s", async (image, pulls) => {
    const { images, ensure } = setUp({ present: [far, "localhost/far:latest"], pullable: ["localhost/far:latest"] });
    await ensure({ image });
    expect(images.calls).toHaveLength(pulls);
  });

  test("a present digest is not pulled, another one is", async () => {
    const digest = (digit: string) => `localhost/app@sha256:${digit.repeat(64)}`;
    const { images, ensure } = setUp({ present: [digest("1")], pullable: [digest("2")] });
    await ensure({ image: digest("1"), imagePullPolicy: "IfNotPresent" });
    expect(images.calls).toHaveLength(0);
    await ensure({ image: digest("2"), imagePullPolicy: "IfNotPresent" });
    expect(images.calls).toHaveLength(1);
  });

  test("a name without a tag is pulled as latest, with the pod's annotations", async () => {
    const { images, ensure } = setUp({ pullable: ["localhost/far:latest"] });
    await ensure({ image: "localhost/far" });
    expect(images.calls[0]?.request).toMatchObject({
      image: { image: "localhost/far:latest", annotations: { note: "x" } },
      sandboxConfig: SANDBOX,
    });
  });
});

describe("back-off", () => {
  const absent = { image: "localhost/absent:1", imagePullPolicy: "IfNotPresent" };

  test("10, 20, 40 ... 300 s a pod and image", async () => {
    const { clock, manager, ensure } = setUp();
    const waits: number[] = [];
    for (let failures = 0; failures < 7; failures += 1) {
      expect(shown(await ensure(absent)).reason).toBe("ErrImagePull");
      waits.push((manager.nextTryMs({ podUid: "u", image: absent.image }) ?? 0) - clock.nowMs());
      await clock.advance(waits.at(-1)! - 1);
      expect(shown(await ensure(absent)).reason).toBe("ImagePullBackOff");
      await clock.advance(1);
      expect(manager.nextTryMs({ podUid: "u", image: absent.image })).toBeUndefined();
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  test("does not hold another pod, another image, or an image that has come", async () => {
    const { images, ensure } = setUp();
    await ensure(absent);
    const other = { metadata: { name: "q", namespace: "ns", uid: "v" }, spec: { containers: [] } };
    expect(shown(await ensure(absent, { pod: other })).reason).toBe("ErrImagePull");
    expect(shown(await ensure({ ...absent, image: "localhost/absent:2" })).reason).toBe("ErrImagePull");
    images.add("localhost/absent:1");
    expect(await ensure(absent)).toHaveProperty("imageRef");
  });

  test("is told with its end", async () => {
    const { clock, ensure, told } = setUp();
    await ensure(absent);
    await clock.advance(4000);
    const endMs = clock.nowMs() + 6000;
    await ensure(absent);
    expect(told.at(-1)).toMatchObject({
      action: "backOff",
      reason: "ImagePullBackOff",
      outcome: "waiting",
      nextTryMs: endMs,
      container: "c",
      containerField: "containers",
    });
  });

  test("goes on after a restart, and ends with the pod", async () => {
    const { clock, manager, ensure } = setUp();
    await ensure(absent);
    const kept: unknown = JSON.parse(JSON.stringify(manager.exportBackOff()));
    const restarted = setUp();
    await restarted.clock.advance(796);
    restarted.manager.restoreBackOff(kept);
    expect(restarted.manager.nextTryMs({ podUid: "u", image: absent.image })).toBe(
      manager.nextTryMs({ podUid: "u", image: absent.image }),
    );
    manager.forget("u");
    expect(manager.nextTryMs({ podUid: "u", image: absent.image })).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("failures", () => {
  const far = { image: "localhost/far:1", imagePullPolicy: "IfNotPresent" };
  test.each([
    [
      "RegistryUnavailable: no route",
      "RegistryUnavailable",
      "image pull failed for localhost/far:1 because the registry is unavailable: no route",
    ],
    [
      "SignatureValidationFailed: bad key",
      "SignatureValidationFailed",
      "image pull failed for localhost/far:1 because the signature validation failed: bad key",
    ],
    ["anything else", "ErrImagePull", "anything else"],
  ])("%s", async (message, reason, expected) => {
    const { images, ensure, events } = setUp();
    images.failPull({ reference: "localhost/far:1", error: new NodeletError("internal", message) });
    expect(shown(await ensure(far))).toEqual({ reason, message: expected });
    expect(events().at(-1)).toEqual({
      type: "Warning",
      reason: "Failed",
      message: `Failed to pull image "localhost/far:1": ${message}`,
    });
    expect(shown(await ensure(far)).message).toBe(`Back-off pulling image "localhost/far:1": ${reason}: ${expected}`);
  });

  test("a store that cannot be asked", async () => {
    const error = new NodeletError("unavailable", "connection refused");
    const { ensure, events } = setUp({}, (images) => ({
      imageStatus: () => Promise.reject(error),
      pullImage: (request) => images.pullImage(request),
    }));
    const message = 'Failed to inspect image "localhost/far:1": connection refused';
    expect(await ensure(far)).toMatchObject({ reason: "ImageInspectError", message, kind: "unavailable" });
    expect(events()).toEqual([{ type: "Warning", reason: "InspectFailed", message }]);
  });

  test("an image that was pulled and is not there is not run as somebody guessed", async () => {
    const { ensure } = setUp({}, (images) => ({
      imageStatus: async () => undefined,
      pullImage: (request) => images.pullImage(request),
    }));
    expect(await ensure(far)).toMatchObject({ reason: "ImageInspectError", kind: "unavailable" });
  });

  test("a pull that no pod wants any more is no failure", async () => {
    const { clock, manager, ensure, told } = setUp({ pullMs: () => 60_000 });
    const gone = new AbortController();
    clock.setTimer(40_000, () => gone.abort());
    const thrown = await ensure(far, { signal: gone.signal });
    expect(thrown).toMatchObject({ kind: "cancelled", reason: undefined });
    expect(manager.nextTryMs({ podUid: "u", image: far.image })).toBeUndefined();
    expect(told.map(({ message }) => message)).toEqual([
      'Pulling image "localhost/far:1"',
      'Still pulling image "localhost/far:1" after 30s',
    ]);
    expect(clock.pendingTimers).toBe(0);
  });
});

test("a pull that waits says for what, and counts the waiting", async () => {
  const pullable = ["localhost/far:1", "localhost/far:2"];
  const { ensure, told, events } = setUp({ pullable });
  await Promise.all([ensure({ image: "localhost/far:1" }), ensure({ name: "d", image: "localhost/far:2" })]);
  expect(told.find(({ outcome }) => outcome === "waiting")?.message).toBe(
    'Pulling image "localhost/far:2" waits for the pull of localhost/far:1',
  );
  expect(events().at(-1)?.message).toBe(
    'Successfully pulled image "localhost/far:2" in 796ms (1.592s including waiting). Image size: 4194304 bytes.',
  );
});

test.each([
  ["initContainers", "initContainers"],
  ["containers", "containers"],
  ["ephemeralContainers", "ephemeralContainers"],
])("events of %s name their list", async (field, containerField) => {
  const { ensure, told } = setUp();
  const container = { name: "c", image: "localhost/busybox:1.35" };
  const pod = { metadata: {}, spec: { containers: [], [field]: [container] } };
  await ensure(container, { pod });
  expect(told[0]?.containerField).toBe(containerField);
});
