import { describe, expect, it } from "vitest";
import { adapterFor, cleanUpLater, failureOf, sandboxConfig, setUp } from "./cri-adapter.test-support.ts";
import { GrpcStatusError } from "./grpc/status.ts";
import { ScriptedRuntime, ScriptedStatus } from "./scripted-runtime.test-support.ts";

const containerRequest = {
  sandboxId: "s",
  sandboxConfig,
  config: { metadata: { name: "c", attempt: 0 }, image: { image: "i" } },
};

describe("calls", () => {
  it("carry requests and answers", async () => {
    const seen: unknown[] = [];
    const { adapter } = await setUp({
      runPodSandbox: (request) => {
        seen.push(request.config?.metadata?.name, request.runtimeHandler);
        return { podSandboxId: "s1" };
      },
      stopContainer: (request) => {
        seen.push(request.containerId, request.timeout);
        return {};
      },
      imageStatus: () => ({}),
    });
    expect(await adapter.runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "runc" })).toBe("s1");
    await adapter.runtime.stopContainer({ containerId: "c", timeoutSeconds: 30 });
    expect(seen).toEqual(["p", "runc", "c", 30n]);
    expect(await adapter.images.imageStatus({ image: { image: "absent" } })).toBeUndefined();
  });

  it("go to the image endpoint where there is one of its own", async () => {
    const images = await ScriptedRuntime.start({ imageStatus: () => ({ image: { id: "from-images" } }) });
    cleanUpLater(() => images.close());
    const { adapter } = await setUp(
      { imageStatus: () => ({ image: { id: "from-runtime" } }) },
      { imageEndpoint: images.endpoint },
    );
    expect((await adapter.images.imageStatus({ image: { image: "i" } }))?.id).toBe("from-images");
    expect((await adapter.runtime.version()).runtimeName).toBe("scripted");
  });

  it("carry messages of up to 16 MiB, and a larger one is a limit that was hit", async () => {
    const status = (size: number) => ({
      status: { conditions: [{ type: "RuntimeReady" }, { type: "NetworkReady", message: "x".repeat(size) }] },
    });
    let size = 16 * 1024 * 1024 - 100;
    const { adapter } = await setUp({ status: () => status(size) });
    expect((await adapter.runtime.status()).conditions[1]?.message).toHaveLength(size);
    size = 16 * 1024 * 1024;
    expect(await failureOf(adapter.runtime.status())).toMatchObject({ kind: "resourceExhausted", retryable: true });
  });

  it("that stop or remove what is gone succeed", async () => {
    let calls = 0;
    const gone = () => {
      calls += 1;
      throw new ScriptedStatus("NOT_FOUND", "no such thing");
    };
    const { adapter } = await setUp({
      stopPodSandbox: gone,
      removePodSandbox: gone,
      stopContainer: gone,
      removeContainer: gone,
    });
    await adapter.runtime.stopSandbox({ sandboxId: "s" });
    await adapter.runtime.removeSandbox({ sandboxId: "s" });
    await adapter.runtime.stopContainer({ containerId: "c", timeoutSeconds: 1 });
    await adapter.runtime.removeContainer({ containerId: "c" });
    expect(calls).toBe(4);
  });

  it("refuse an answer without the id that was asked for", async () => {
    const { adapter } = await setUp({
      runPodSandbox: () => ({}),
      createContainer: () => ({}),
      containerStatus: () => ({}),
      pullImage: () => ({}),
    });
    expect(await failureOf(adapter.runtime.runSandbox({ config: sandboxConfig, runtimeHandler: "" }))).toMatchObject({
      kind: "internal",
    });
    expect(await failureOf(adapter.runtime.createContainer(containerRequest))).toMatchObject({ kind: "internal" });
    expect(await failureOf(adapter.runtime.containerStatus({ containerId: "c" }))).toMatchObject({
      message: "the runtime answered without a status of container c",
    });
    expect(await failureOf(adapter.images.pullImage({ image: { image: "i" }, sandboxConfig }))).toMatchObject({
      kind: "internal",
    });
  });
});

describe("answers that are errors", () => {
  it.each([
    ["UNKNOWN", "internal", "internal", "Unknown"],
    ["INTERNAL", "internal", "internal", "Internal"],
    ["INVALID_ARGUMENT", "invalid", "invalid", "InvalidArgument"],
    ["OUT_OF_RANGE", "invalid", "invalid", "OutOfRange"],
    ["NOT_FOUND", "notFound", "notFound", "NotFound"],
    ["ALREADY_EXISTS", "alreadyExists", "alreadyExists", "AlreadyExists"],
    ["PERMISSION_DENIED", "permission", "permission", "PermissionDenied"],
    ["UNAUTHENTICATED", "permission", "permission", "Unauthenticated"],
    ["RESOURCE_EXHAUSTED", "resourceExhausted", "resourceExhausted", "ResourceExhausted"],
    ["FAILED_PRECONDITION", "conflict", "conflict", "FailedPrecondition"],
    ["ABORTED", "conflict", "conflict", "Aborted"],
    ["UNIMPLEMENTED", "unsupported", "unsupported", "Unimplemented"],
    ["UNAVAILABLE", "unavailable", "unavailable", "Unavailable"],
    ["DATA_LOSS", "internal", "internal", "DataLoss"],
    // The runtime gave up or was cancelled half-way: a change may have happened.
    ["DEADLINE_EXCEEDED", "deadline", "unknownOutcome", "DeadlineExceeded"],
    ["CANCELLED", "unavailable", "unknownOutcome", "Canceled"],
  ] as const)("%s is %s for a look and %s for a change", async (code, ofLook, ofChange, goName) => {
    const text = 'failed to create containerd task: exec: "/x": stat /x: no such file or directory: unknown';
    const answer = () => {
      throw new ScriptedStatus(code, text);
    };
    const { adapter } = await setUp({ containerStatus: answer, startContainer: answer });
    for (const [call, kind] of [
      [adapter.runtime.containerStatus({ containerId: "c" }), ofLook],
      [adapter.runtime.startContainer({ containerId: "c" }), ofChange],
    ] as const) {
      const error = await failureOf(call);
      expect(error).toMatchObject({ name: "NodeletError", kind, message: text });
      expect(error.cause).toBeInstanceOf(GrpcStatusError);
      expect((error.cause as Error).message).toBe(`rpc error: code = ${goName} desc = ${text}`);
    }
  });
});

describe("a name that is taken is alreadyExists, whatever the code", () => {
  it.each([
    ["UNKNOWN", 'failed to reserve sandbox name "p_n_u_0": name "p_n_u_0" is reserved for "42ab"'],
    [
      "FAILED_PRECONDITION",
      'failed to reserve container name "c"; check if another CreateContainer request is in progress: name "c" is reserved for "a1"',
    ],
    ["UNKNOWN", "error reserving ctr name k8s_c_p_n_u_0 for id 42ab: name is reserved"],
  ] as const)("%s: %s", async (code, text) => {
    const { adapter } = await setUp({
      createContainer: () => {
        throw new ScriptedStatus(code, text);
      },
    });
    expect(await failureOf(adapter.runtime.createContainer(containerRequest))).toMatchObject({
      kind: "alreadyExists",
      message: text,
    });
  });
});

it("every procedure of the interface can be called, and each kind of answer comes back", async () => {
  const { adapter } = await setUp({});
  const methods = [...Object.entries(adapter.runtimeClient), ...Object.entries(adapter.imageClient)];
  expect(methods).toHaveLength(41);
  for (const [name, call] of methods.filter(([each]) => each !== "version")) {
    const result = (call as (request: object) => Promise<unknown> | AsyncIterable<unknown>)({});
    const outcome = result instanceof Promise ? result : result[Symbol.asyncIterator]().next();
    expect(await failureOf(outcome), name).toMatchObject({ kind: "unsupported" });
  }
});

it("a bare path is taken with a warning, once", () => {
  const warnings: unknown[] = [];
  const logger = { warn: (message: string, fields: unknown) => void warnings.push(message, fields) } as never;
  adapterFor("/run/x.sock", { logger });
  expect(warnings).toEqual([
    "A bare path as runtime endpoint is deprecated; use the full form",
    { endpoint: "unix:///run/x.sock" },
  ]);
});
