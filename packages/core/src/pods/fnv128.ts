/** FNV-1a with 128 bits (draft-eastlake-fnv): the offset basis in four 32-bit limbs, lowest first; the prime is 2^88 + 0x13b. */
const OFFSET_BASIS = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e] as const;
const PRIME_LOW = 0x13b;
const LIMB = 2 ** 32;

/** FNV-1a 128 of the UTF-8 form, as 32 lower-case hexadecimal digits. Not for secrets. */
export function fnv128a(text: string): string {
  let [a, b, c, d] = OFFSET_BASIS as readonly [number, number, number, number];
  for (const byte of new TextEncoder().encode(text)) {
    const low = (a ^ byte) >>> 0;
    // Times 0x13b limb by limb (each product stays below 2^41), plus the value shifted up by 88 bits.
    const first = low * PRIME_LOW;
    const second = b * PRIME_LOW + Math.floor(first / LIMB);
    const third = c * PRIME_LOW + Math.floor(second / LIMB) + ((low << 24) >>> 0);
    const fourth = d * PRIME_LOW + Math.floor(third / LIMB) + (((b << 24) | (low >>> 8)) >>> 0);
    a = first % LIMB;
    b = second % LIMB;
    c = third % LIMB;
    d = fourth % LIMB;
  }
  return [d, c, b, a].map((limb) => limb.toString(16).padStart(8, "0")).join("");
}
