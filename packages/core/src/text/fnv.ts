const OFFSET_32 = 0x811c9dc5;
const PRIME_32 = 0x01000193;
const OFFSET_64 = 0xcbf29ce484222325n;
const PRIME_64 = 0x100000001b3n;

/** FNV-1a with 32 bits over the UTF-8 bytes of a text. */
export function fnv1a32(text: string): number {
  let hash = OFFSET_32;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, PRIME_32);
  }
  return hash >>> 0;
}

/** FNV-1 with 64 bits over the UTF-8 bytes of a text. */
export function fnv1of64(text: string): bigint {
  let hash = OFFSET_64;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, hash * PRIME_64) ^ BigInt(byte);
  }
  return hash;
}
