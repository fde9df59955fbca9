/** A place in a JSON text where it stops being JSON. */
export interface JsonFault {
  /** UTF-16 offset of the offending character; the text's length when it ends too early. */
  readonly offset: number;
  readonly expected: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const MORE_STRING = "the rest of a string (control characters and quotes are escaped in it)";
const BLANK = /[ \t\n\r]*/y;

/** Reads a text once, front to back, without recursion. */
class Cursor {
  offset = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves past what `pattern` (sticky) matches here; false when it does not match. */
  take(pattern: RegExp): boolean {
    pattern.lastIndex = this.offset;
    if (!pattern.test(this.#text)) return false;
    this.offset = pattern.lastIndex;
    return true;
  }

  /** Moves past a string. When it is malformed, stays at the character that breaks it. */
  takeString(): boolean {
    if (!this.takeCharacter('"')) return false;
    for (; this.offset < this.#text.length; this.offset++) {
      const code = this.#text.charCodeAt(this.offset);
      if (code < 0x20) return false;
      if (code === 0x22) return this.takeCharacter('"');
      if (code === 0x5c) {
        this.offset += 1;
        if (!this.take(ESCAPE)) return false;
        this.offset -= 1;
      }
    }
    return false;
  }

  takeCharacter(character: string): boolean {
    if (this.#text[this.offset] !== character) return false;
    this.offset += 1;
    return true;
  }

  get character(): string | undefined {
    return this.#text[this.offset];
  }
}

/**
 * Finds the first place where `text` breaks the JSON grammar (RFC 8259), or undefined when it is JSON.
 * Used after a parser refused the text, to say where and what was expected; it is not itself a parser.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const cursor = new Cursor(text);
  const open: ("{" | "[")[] = [];
  let state: "value" | "firstElement" | "firstKey" | "key" | "after" = "value";
  for (;;) {
    cursor.take(BLANK);
    if (state === "after") {
      const container = open.at(-1);
      if (container === undefined) {
        return cursor.offset === text.length ? undefined : { offset: cursor.offset, expected: "the end of the text" };
      }
      const closing = container === "{" ? "}" : "]";
      if (cursor.takeCharacter(closing)) {
        open.pop();
      } else if (cursor.takeCharacter(",")) {
        state = container === "{" ? "key" : "value";
      } else {
        return { offset: cursor.offset, expected: `"," or "${closing}"` };
      }
    } else if (state === "firstKey" && cursor.takeCharacter("}")) {
      open.pop();
      state = "after";
    } else if (state === "firstElement" && cursor.takeCharacter("]")) {
      open.pop();
      state = "after";
    } else if (state === "firstKey" || state === "key") {
      const fault = takeKey(cursor);
      if (fault !== undefined) return fault;
      state = "value";
    } else if (cursor.takeCharacter("{")) {
      open.push("{");
      state = "firstKey";
    } else if (cursor.takeCharacter("[")) {
      open.push("[");
      state = "firstElement";
    } else if (cursor.character === '"') {
      if (!cursor.takeString()) return { offset: cursor.offset, expected: MORE_STRING };
      state = "after";
    } else if (cursor.take(LITERAL) || cursor.take(NUMBER)) {
      state = "after";
    } else {
      return { offset: cursor.offset, expected: "a value" };
    }
  }
}

function takeKey(cursor: Cursor): JsonFault | undefined {
  const expected = cursor.character === '"' ? MORE_STRING : "a member name in double quotes";
  if (!cursor.takeString()) return { offset: cursor.offset, expected };
  cursor.take(BLANK);
  return cursor.takeCharacter(":") ? undefined : { offset: cursor.offset, expected: '":"' };
}

/** Offset of the bracket that opens the first level beyond `maxDepth`, or undefined. Expects JSON; strings are skipped. */
export function findTooDeep(text: string, maxDepth: number): number | undefined {
  let depth = 0;
  for (let offset = 0; offset < text.length; offset++) {
    switch (text.charCodeAt(offset)) {
      case 0x22:
        offset = endOfString(text, offset);
        break;
      case 0x7b:
      case 0x5b:
        depth += 1;
        if (depth > maxDepth) return offset;
        break;
      case 0x7d:
      case 0x5d:
        depth -= 1;
        break;
      default:
    }
  }
  return undefined;
}

/** Offset of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
