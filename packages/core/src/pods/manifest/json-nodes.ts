import { parseJson } from "../../api/index.ts";
import { type ManifestNode, type Member, type NodeWarning, type ParsedText, TextFault } from "./node.ts";

const BLANK = /[ \t\n\r]*/y;
const OTHER = /[^\s,\]}]+/y;
/** Levels of objects and arrays inside one another. */
const MAX_DEPTH = 100;

/** Parses JSON into nodes with their places. Throws `invalid` (NodeletError) that names line and column when it is not JSON. */
export function parseJsonNodes(text: string, source: string): ParsedText {
  // Checks grammar and depth with good messages, so that the reader below can trust the text.
  parseJson(text, { source, maxDepth: MAX_DEPTH });
  const reader = new Reader(text);
  return { root: reader.value(), warnings: reader.warnings };
}

/** Reads text that is known to be JSON, front to back. */
class Reader {
  readonly warnings: NodeWarning[] = [];
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): ManifestNode {
    this.#take(BLANK);
    const offset = this.#offset;
    switch (this.#text[offset]) {
      case "{":
        return { kind: "mapping", offset, members: this.#members() };
      case "[":
        return { kind: "sequence", offset, items: this.#items() };
      case '"': {
        const text = this.#string();
        return { kind: "scalar", offset, value: text, source: text };
      }
      default: {
        const source = this.#take(OTHER);
        const value = parseJson(source) as number | bigint | boolean | null;
        return { kind: "scalar", offset, value, source };
      }
    }
  }

  #members(): Map<string, Member> {
    const members = new Map<string, Member>();
    this.#offset += 1;
    while (!this.#ends("}")) {
      const keyOffset = this.#offset;
      const key = this.#string();
      this.#take(BLANK);
      this.#offset += 1;
      const value = this.value();
      if (members.delete(key)) {
        this.warnings.push({
          offset: keyOffset,
          message: `the key ${JSON.stringify(key)} is written twice; the last one counts`,
        });
      }
      members.set(key, { keyOffset, value });
    }
    return members;
  }

  #items(): ManifestNode[] {
    const items: ManifestNode[] = [];
    this.#offset += 1;
    while (!this.#ends("]")) items.push(this.value());
    return items;
  }

  /** Moves past blanks, one comma and the closing bracket; true at the bracket. */
  #ends(bracket: string): boolean {
    this.#take(BLANK);
    if (this.#text[this.#offset] === ",") this.#offset += 1;
    this.#take(BLANK);
    if (this.#text[this.#offset] !== bracket) return false;
    this.#offset += 1;
    return true;
  }

  #string(): string {
    const start = this.#offset;
    let end = start + 1;
    // Character by character: a pattern with a loop in it would need a stack as long as the string.
    while (this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    this.#offset = end + 1;
    return JSON.parse(this.#text.slice(start, end + 1)) as string;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#offset;
    const match = pattern.exec(this.#text);
    if (match === null) throw new TextFault(this.#offset, "expected a JSON value");
    this.#offset = pattern.lastIndex;
    return match[0];
  }
}
