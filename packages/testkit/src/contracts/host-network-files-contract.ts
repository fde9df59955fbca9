import type { HostNetworkFiles } from "@nodelet/core";
import { expect } from "vitest";
import { type ContractFixture, type ContractOptions, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** A HostNetworkFiles, and a way to write what it reads. */
export interface HostNetworkFilesFixture extends ContractFixture {
  readonly files: HostNetworkFiles;
  /** Path of a resolv.conf that the suite may write. */
  readonly resolvConf: string;
  /** A path where nothing is. */
  readonly absentPath: string;
  readonly writeResolvConf: (content: string) => Promise<void>;
  /** Writes the hosts file, or takes it away. */
  readonly writeHosts: (content: string | undefined) => Promise<void>;
}

/** What every HostNetworkFiles must do. */
export function describeHostNetworkFilesContract(options: ContractOptions<HostNetworkFilesFixture>): void {
  describeContract("HostNetworkFiles contract", options, (test) => {
    test("resolv.conf is read anew at each call", async ({ files, resolvConf, writeResolvConf }) => {
      await writeResolvConf("nameserver 192.0.2.1\n");
      expect(await files.readResolvConf({ path: resolvConf })).toBe("nameserver 192.0.2.1\n");
      await writeResolvConf("nameserver 192.0.2.2\nsearch example.com\n");
      expect(await files.readResolvConf({ path: resolvConf })).toBe("nameserver 192.0.2.2\nsearch example.com\n");
    });

    test("a resolv.conf that is not there is notFound, with its path in the message", async ({ files, absentPath }) => {
      const failure = await expectFailure(files.readResolvConf({ path: absentPath }), "notFound");
      expect(failure.message).toContain(absentPath);
    });

    test("the hosts file is read anew at each call and empty when there is none", async ({ files, writeHosts }) => {
      await writeHosts("127.0.0.1\tlocalhost\n");
      expect(await files.readHostsFile()).toBe("127.0.0.1\tlocalhost\n");
      await writeHosts(undefined);
      expect(await files.readHostsFile()).toBe("");
    });

    test("a call whose signal has fired is cancelled", async ({ files, resolvConf }) => {
      await expectFailure(files.readResolvConf({ path: resolvConf, signal: firedSignal() }), "cancelled");
      await expectFailure(files.readHostsFile({ signal: firedSignal() }), "cancelled");
    });
  });
}
