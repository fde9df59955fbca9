/** Family of the text of an IP address, or undefined when it is none: host names, `<nil>` and empty texts are no addresses. */
export function ipFamily(text: string): 4 | 6 | undefined {
  if (isIpv4(text)) return 4;
  return text.length <= 45 && isIpv6(text) ? 6 : undefined;
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":"))).flat();
  const tail = groups.at(-1) ?? "";
  const embedded = tail.includes(".");
  if (embedded && !isIpv4(tail)) return false;
  const hex = embedded ? groups.slice(0, -1) : groups;
  const length = hex.length + (embedded ? 2 : 0);
  const fits = halves.length === 2 ? length <= 7 : length === 8;
  return fits && hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group));
}
