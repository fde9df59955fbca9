/** The end of a text, at most so many bytes of UTF-8; a character that the cut goes through is left out. */
export function lastBytes(request: { readonly text: string; readonly maxBytes: number }): string {
  const { text, maxBytes } = request;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  let from = bytes.length - maxBytes;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return new TextDecoder().decode(bytes.subarray(from));
}
