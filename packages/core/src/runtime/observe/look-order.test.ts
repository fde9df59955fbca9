import { expect, it } from "vitest";
import { LookOrder } from "./look-order.ts";

it("drops a look that began before the one that was taken, in one millisecond too", () => {
  const order = new LookOrder();
  const [first, second] = [order.begin(5), order.begin(5)];
  expect(order.take("a", second)).toBe(true);
  expect(order.take("a", first)).toBe(false);
  expect(order.take("b", first)).toBe(true);
});

it("lets no older look bring back a pod that is gone, and then forgets it", () => {
  const order = new LookOrder();
  const slow = order.begin(0);
  order.hold(slow);
  const quick = order.begin(1);
  expect(order.takeGone("a", quick)).toBe(true);
  order.end(quick);
  order.end(slow);
  expect(order.take("a", slow)).toBe(false);
  expect(order.size).toBe(1);
  order.end(slow);
  expect(order.size).toBe(0);
  const later = order.begin(2);
  expect(order.take("a", later)).toBe(true);
  order.end(later);
  expect(order.size).toBe(1);
});
