/** FNV-1a with 128 bits (RFC 9923): offset basis and prime. */
const OFFSET_BASIS = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = 0x0000000001000000000000000000013bn;
const MASK = (1n << 128n) - 1n;

/** FNV-1a 128 of the UTF-8 form, as 32 lower-case hexadecimal digits. Not for secrets. */
export function fnv128a(text: string): string {
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * PRIME) & MASK;
  }
  return hash.toString(16).padStart(32, "0");
}
