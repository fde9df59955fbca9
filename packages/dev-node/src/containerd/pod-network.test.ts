import { describe, expect, it } from "vitest";
import { describeSubnet, renderCniConfig, subnetCount } from "./pod-network.ts";

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
