import { NodeletError, type Random } from "@nodelet/core";

/** A seed: the same seed gives the same run. Text is hashed. */
export type Seed = number | string;

/**
 * A Random that repeats: xoshiro128** (Blackman, Vigna) filled by splitmix32 from the seed. Beside the port it offers what generators of
 * tests need. Not for secrets.
 */
export class SeededRandom implements Random {
  readonly #seed: Seed;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: Seed = 1) {
    this.#seed = seed;
    const next = splitmix32(typeof seed === "number" ? Math.trunc(seed) : hashText(seed));
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next();
  }

  /** Uniform in [0, 2^32). */
  uint32(): number {
    const product = Math.imul(this.#b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  float(): number {
    return ((this.uint32() >>> 5) * 67_108_864 + (this.uint32() >>> 6)) / 9_007_199_254_740_992;
  }

  uuid(): string {
    const hex = this.hex(32);
    const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /** `digits` lower-case hexadecimal digits. */
  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.uint32().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }

  /** Uniform whole number from `min` to `max`, both included. */
  int(range: { readonly min: number; readonly max: number }): number {
    return range.min + Math.floor(this.float() * (range.max - range.min + 1));
  }

  /** True with the given probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.float() < probability;
  }

  /** One of the items, all equally likely. `invalid` when there are none. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new NodeletError("invalid", "pick needs at least one item");
    return items[this.int({ min: 0, max: items.length - 1 })] as T;
  }

  /** The items in a random order, as a new array. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let index = shuffled.length - 1; index > 0; index -= 1) {
      const other = this.int({ min: 0, max: index });
      [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
    }
    return shuffled;
  }

  /**
   * An independent generator for one part of a run, from this one's seed and the label alone: however much either draws, the other's values
   * stay, so that adding a call in one place does not change a whole run.
   */
  fork(label: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${label}`);
  }
}

function splitmix32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
}

/** FNV-1a, 32 bits, over UTF-16 code units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}
