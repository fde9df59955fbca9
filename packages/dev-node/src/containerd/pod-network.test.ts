import { describe, expect, it } from "vitest";
import { describeSubnet, overlapsRoutes, renderCniConfig, subnetCount } from "./pod-network.ts";

describe("describeSubnet", () => {
  it.each([
    { index: 0, cidr: "10.213.0.0/22", gateway: "10.213.0.1" },
    { index: 1, cidr: "10.213.4.0/22", gateway: "10.213.4.1" },
    { index: 63, cidr: "10.213.252.0/22", gateway: "10.213.252.1" },
    { index: 64, cidr: "10.214.0.0/22", gateway: "10.214.0.1" },
    { index: subnetCount - 1, cidr: "10.216.252.0/22", gateway: "10.216.252.1" },
  ])("$index is $cidr", ({ index, cidr, gateway }) => {
    expect(describeSubnet(index)).toEqual({ cidr, gateway });
  });
});

describe("renderCniConfig", () => {
  const network = { name: "nl0011aabb", subnetIndex: 1 };
  const render = (features: { masquerade: boolean; portMap: boolean }): unknown =>
    JSON.parse(renderCniConfig({ network, ipamDir: "/x/ipam", features }));

  it("changes nothing on the machine by default: no gateway set-up (it switches IP forwarding on), no masquerade, no portmap", () => {
    expect(render({ masquerade: false, portMap: false })).toMatchObject({
      name: "nl0011aabb",
      plugins: [
        {
          type: "bridge",
          bridge: "nl0011aabb",
          isGateway: false,
          ipMasq: false,
          ipam: {
            type: "host-local",
            dataDir: "/x/ipam",
            ranges: [[{ subnet: "10.213.4.0/22", gateway: "10.213.4.1" }]],
            routes: [{ dst: "0.0.0.0/0" }],
          },
        },
      ],
    });
  });

  it("adds portmap, which is told of port mappings, only when asked", () => {
    expect(render({ masquerade: true, portMap: true })).toMatchObject({
      plugins: [
        { type: "bridge", isGateway: true, ipMasq: true },
        { type: "portmap", capabilities: { portMappings: true } },
      ],
    });
  });
});

describe("overlapsRoutes", () => {
  // Subnet 1 is 10.213.4.0 to 10.213.7.255.
  it.each([
    { routes: "default via 192.0.2.1 dev eth0", expected: false },
    { routes: "192.0.2.0/24 dev eth0 scope link src 192.0.2.2", expected: false },
    { routes: "10.213.4.0/22 dev nl1 scope link src 10.213.4.1", expected: true },
    { routes: "10.213.0.0/22 dev nl0 scope link src 10.213.0.1", expected: false },
    { routes: "10.213.7.128/25 dev x", expected: true },
    { routes: "10.213.8.0/25 dev x", expected: false },
    { routes: "10.0.0.0/8 via 192.0.2.9 dev eth0", expected: true },
    { routes: "local 10.213.5.9 dev lo table local scope host", expected: true },
    { routes: "broadcast 10.213.7.255 dev x table local", expected: true },
    { routes: "192.0.2.0/24 via 10.213.4.1 dev x", expected: false },
    { routes: "", expected: false },
  ])("$routes: $expected", ({ routes, expected }) => {
    expect(overlapsRoutes({ routes, index: 1 })).toBe(expected);
  });
});
