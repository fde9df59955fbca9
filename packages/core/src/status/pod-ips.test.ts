import { describe, expect, it } from "vitest";
import { observedPod, podOf, sandbox } from "../runtime/observed-pod.test-support.ts";
import { ipFamily } from "./ip-address.ts";
import { podAddresses } from "./pod-ips.ts";
import { statusSnapshot } from "./status.test-support.ts";

describe("ipFamily", () => {
  it.each([
    ["192.0.2.1", 4],
    ["0.0.0.0", 4],
    ["255.255.255.255", 4],
    ["256.0.0.1", undefined],
    ["01.2.3.4", undefined],
    ["1.2.3", undefined],
    ["::", 6],
    ["::1", 6],
    ["2001:db8::1", 6],
    ["1:2:3:4:5:6:7:8", 6],
    ["1:2:3:4:5:6:7", undefined],
    ["1:2:3:4:5:6:7:8:9", undefined],
    ["1::2::3", undefined],
    ["::ffff:192.0.2.1", 6],
    ["::ffff:192.0.2.256", undefined],
    ["fe80::1%eth0", undefined],
    ["<nil>", undefined],
    ["", undefined],
    ["node-1", undefined],
  ])("of %j is %s", (text, family) => {
    expect(ipFamily(text)).toBe(family);
  });
});

describe("podAddresses", () => {
  it("takes IPv4 first on a node that knows no address of its own", () => {
    const observed = observedPod([], [sandbox("s1", { ips: ["fd00::5", "10.88.0.5"] })]);
    expect(podAddresses(statusSnapshot(podOf(), observed, { nodeIps: [] }))).toEqual({
      podIP: "10.88.0.5",
      podIPs: [{ ip: "10.88.0.5" }, { ip: "fd00::5" }],
    });
  });

  it("drops what an earlier sandbox had once a new one serves", () => {
    const previous = { podIP: "10.88.0.5", podIPs: [{ ip: "10.88.0.5" }] };
    const observed = observedPod(
      [],
      [sandbox("s2", { attempt: 1, ips: ["10.88.0.9"] }), sandbox("s1", { ready: false })],
    );
    expect(podAddresses(statusSnapshot(podOf(), observed, { previous })).podIP).toBe("10.88.0.9");
  });
});
