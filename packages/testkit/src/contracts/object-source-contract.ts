import type { KeyedObject, ObjectSource, RuntimeClassSummary, ServiceSummary } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** An ObjectSource that holds just these objects. */
export interface ObjectSourceFixture extends ContractFixture {
  readonly objects: ObjectSource;
  readonly configMap: KeyedObject;
  readonly secret: KeyedObject;
  readonly service: ServiceSummary;
  readonly runtimeClass: RuntimeClassSummary;
}

/** What every ObjectSource must do. */
export function describeObjectSourceContract(options: ContractOptions<ObjectSourceFixture>): void {
  describeContract("ObjectSource contract", options, (test) => {
    test("answers what it holds, by namespace and name", async (fixture) => {
      const { objects, configMap, secret, service, runtimeClass } = fixture;
      expect(await objects.configMap(configMap)).toEqual(configMap);
      expect(await objects.secret(secret)).toEqual(secret);
      expect(await objects.services()).toEqual([service]);
      expect(await objects.runtimeClass({ name: runtimeClass.name })).toEqual(runtimeClass);
    });

    test("what is not there is undefined: another name, another namespace, another kind", async (fixture) => {
      const { objects, configMap, secret } = fixture;
      const absent = { namespace: configMap.namespace, name: "no-such" };
      expect(await objects.configMap(absent)).toBeUndefined();
      expect(await objects.configMap({ ...configMap, namespace: "no-such" })).toBeUndefined();
      expect(await objects.secret({ ...secret, namespace: "no-such" })).toBeUndefined();
      expect(await objects.runtimeClass({ name: "no-such" })).toBeUndefined();
      expect(await objects.configMap({ namespace: "..", name: "../.." })).toBeUndefined();
    });

    test("a call whose signal has fired is cancelled", async ({ objects, configMap }) => {
      await expectFailure(objects.configMap({ ...configMap, signal: firedSignal() }), "cancelled");
      await expectFailure(objects.services({ signal: firedSignal() }), "cancelled");
    });
  });
}
