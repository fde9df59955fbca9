import { expect, it } from "vitest";
import { InMemoryObjects } from "./in-memory-objects.ts";

it("finds objects by namespace and name, and not what was removed", async () => {
  const cm = { namespace: "default", name: "cm", data: { one: "1" } };
  const service = { namespace: "default", name: "web", clusterIp: "192.0.2.1", ports: [] };
  const objects = new InMemoryObjects({
    configMaps: [cm],
    services: [service],
    runtimeClasses: [{ name: "heavy", handler: "kata" }],
  });
  expect(await objects.configMap({ namespace: "default", name: "cm" })).toEqual(cm);
  expect(await objects.configMap({ namespace: "other", name: "cm" })).toBeUndefined();
  expect(await objects.secret({ namespace: "default", name: "cm" })).toBeUndefined();
  expect(await objects.services()).toEqual([service]);
  expect(await objects.runtimeClass({ name: "heavy" })).toEqual({ name: "heavy", handler: "kata" });
  objects.remove({ kind: "configMap", namespace: "default", name: "cm" });
  expect(await objects.configMap({ namespace: "default", name: "cm" })).toBeUndefined();
});

it("is unavailable when it is told to be", async () => {
  const objects = new InMemoryObjects();
  objects.available = false;
  await expect(objects.services()).rejects.toMatchObject({ kind: "unavailable" });
});
