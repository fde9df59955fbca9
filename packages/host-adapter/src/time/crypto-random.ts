import { randomInt, randomUUID } from "node:crypto";
import type { Random } from "@nodelet/core";

const STEPS = 2 ** 48 - 1;

/** Randomness of the operating system. */
export class CryptoRandom implements Random {
  float(): number {
    return randomInt(STEPS) / STEPS;
  }

  uuid(): string {
    return randomUUID();
  }
}
