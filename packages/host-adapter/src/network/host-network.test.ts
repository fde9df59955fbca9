import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePipe, scratchFolders } from "../scratch.test-support.ts";
import { HostNetwork } from "./host-network.ts";

const scratch = scratchFolders();

it("reads resolv.conf anew at each call, through links", async () => {
  const folder = scratch();
  writeFileSync(join(folder, "stub"), "nameserver 10.0.0.1\n");
  symlinkSync("stub", join(folder, "resolv.conf"));
  const network = new HostNetwork();
  expect(await network.readResolvConf({ path: join(folder, "resolv.conf") })).toBe("nameserver 10.0.0.1\n");
  writeFileSync(join(folder, "stub"), "nameserver 10.0.0.2\n");
  expect(await network.readResolvConf({ path: join(folder, "resolv.conf") })).toBe("nameserver 10.0.0.2\n");
});

it("refuses what is absent, too large, a pipe or a directory", async () => {
  const folder = scratch();
  writeFileSync(join(folder, "large"), "");
  truncateSync(join(folder, "large"), 10 * 2 ** 20 + 1);
  makePipe(join(folder, "pipe"));
  mkdirSync(join(folder, "dir"));
  const kinds = { none: "notFound", large: "resourceExhausted", pipe: "invalid", dir: "invalid" };
  for (const [name, kind] of Object.entries(kinds)) {
    await expect(new HostNetwork().readResolvConf({ path: join(folder, name) })).rejects.toMatchObject({ kind });
  }
});

it("reads the hosts file; empty when there is none", async () => {
  const folder = scratch();
  const network = new HostNetwork({ hostsPath: join(folder, "hosts") });
  expect(await network.readHostsFile()).toBe("");
  writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n");
  expect(await network.readHostsFile()).toBe("127.0.0.1 localhost\n");
});
