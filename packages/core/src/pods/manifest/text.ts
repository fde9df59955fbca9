/** Line and column of an offset, both from 1; columns count UTF-16 units. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Finds places in one text. */
export class TextIndex {
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) this.#lineStarts.push(end + 1);
  }

  place(offset: number): TextPlace {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }
}

/** Where a YAML stream's first document ends, and whether there is more than blanks and comments behind it. */
export interface FirstDocument {
  readonly text: string;
  readonly hasMore: boolean;
}

/**
 * Cuts a YAML stream after its first document. A line that begins with `---` or `...` at column 0 is a document marker wherever it stands
 * (YAML 1.2 rule c-forbidden), so the lines alone tell.
 */
export function firstDocument(stream: string): FirstDocument {
  const marker = /^(?:---|\.\.\.)(?=\s|$)/gm;
  let opened = false;
  let searched = 0;
  for (let match = marker.exec(stream); match !== null; match = marker.exec(stream)) {
    // The first `---` opens the document when only directives and comments came before it.
    if (opened || hasContent(stream.slice(searched, match.index))) {
      const rest = stream.slice(match.index).replace(marker, "");
      return { text: stream.slice(0, match.index), hasMore: hasContent(rest) };
    }
    opened = match[0] === "---";
    searched = match.index + match[0].length;
  }
  return { text: stream, hasMore: false };
}

/** True when some line is neither blank nor a comment nor a directive. */
function hasContent(part: string): boolean {
  return /^(?!\s*(?:#|$)|%)./m.test(part);
}
