import { NodeletError } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { ContractPod } from "./contract-pods.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";
import type { RuntimeFixture } from "./runtime-fixture.ts";

/** What every ImageService must do. It pulls, and removes nothing. */
export function describeImageServiceContract(options: ContractOptions<RuntimeFixture>): void {
  describeContract("ImageService contract", options, (test) => {
    defineStatusTests(test);
    definePullTests(test);
  });
}

function defineStatusTests(test: ContractTest<RuntimeFixture>): void {
  test("an image that is there has an id, a size and its tag", async ({ images, presentImage }) => {
    const image = await images.imageStatus({ image: { image: presentImage } });
    expect(image?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(image?.repoTags).toContain(presentImage);
    expect(image?.sizeBytes).toBeGreaterThan(0n);
    expect(typeof image?.pinned).toBe("boolean");
  });

  test("an image is found by its id as by its reference", async ({ images, presentImage }) => {
    const byReference = await images.imageStatus({ image: { image: presentImage } });
    expect(byReference).toBeDefined();
    expect(await images.imageStatus({ image: { image: byReference?.id ?? "" } })).toEqual(byReference);
  });

  test("an image that is not there is undefined", async ({ images, absentImage }) => {
    expect(await images.imageStatus({ image: { image: absentImage } })).toBeUndefined();
    expect(await images.imageStatus({ image: { image: `sha256:${"0".repeat(64)}` } })).toBeUndefined();
  });

  test("a look whose signal has fired is cancelled", async ({ images, presentImage }) => {
    await expectFailure(images.imageStatus({ image: { image: presentImage }, signal: firedSignal() }), "cancelled");
  });
}

function definePullTests(test: ContractTest<RuntimeFixture>): void {
  test("a pull of an image that no registry has fails with its name in the message, and leaves nothing", async (fixture) => {
    const { images, absentImage } = fixture;
    const sandboxConfig = (await ContractPod.make(fixture)).sandboxConfig();
    const failure = await images
      .pullImage({ image: { image: absentImage }, sandboxConfig })
      .catch((error: unknown) => error);
    expect(NodeletError.is(failure)).toBe(true);
    expect(String(failure)).toContain(absentImage);
    expect(await images.imageStatus({ image: { image: absentImage } })).toBeUndefined();
  });

  test("a pull of what is no reference fails", async (fixture) => {
    const sandboxConfig = (await ContractPod.make(fixture)).sandboxConfig();
    const pull = fixture.images.pullImage({ image: { image: "UPPER CASE:x" }, sandboxConfig });
    await expectFailure(pull, ["invalid", "internal"]);
  });

  test("a pull whose signal has fired is cancelled", async (fixture) => {
    const { images, absentImage } = fixture;
    const sandboxConfig = (await ContractPod.make(fixture)).sandboxConfig();
    const pull = images.pullImage({ image: { image: absentImage }, sandboxConfig, signal: firedSignal() });
    await expectFailure(pull, "cancelled");
  });

  test("a pull answers a reference that the store then knows, where the fixture has a registry", async (fixture) => {
    const { images, pullableImage } = fixture;
    if (pullableImage === undefined) return;
    const sandboxConfig = (await ContractPod.make(fixture)).sandboxConfig();
    const reference = await images.pullImage({ image: { image: pullableImage }, sandboxConfig });
    const image = await images.imageStatus({ image: { image: reference } });
    expect(image?.repoTags).toContain(pullableImage);
    expect(await images.imageStatus({ image: { image: pullableImage } })).toEqual(image);
  });
}
