/** Code points that terminals draw two cells wide (Unicode's East Asian Width W and F, and pictographs), as ranges. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** How many cells of a terminal a text takes. The text has no control characters. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text cut to at most `width` cells, with `…` at its end when something was cut off. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return "";
  let cut = "";
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    cut += character;
  }
  return `${cut}…`;
}

/** One line without anything that a terminal would obey: control characters, line ends, direction marks. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, " ").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "");
}

function widthOf(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
