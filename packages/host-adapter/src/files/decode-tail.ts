/**
 * The last `maxBytes` of UTF-8 text. A character that the cut goes through is left out; other bytes that are not UTF-8 become U+FFFD.
 */
export function decodeTail(
  bytes: Uint8Array,
  options: { readonly maxBytes: number; readonly cutBefore?: boolean },
): string {
  let start = Math.max(0, bytes.length - options.maxBytes);
  if (start > 0 || options.cutBefore === true) {
    const limit = start + 3;
    while (start < limit && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start));
}
