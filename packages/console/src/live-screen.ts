import { cutText } from "./text-width.ts";

/** A terminal to draw on. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_DOWN = "\u001b[0J";
/** What terminals that do not tell have. */
const DEFAULT_ROWS = 24;

/** A block of lines at the end of a terminal that is drawn over, with lines that stay scrolling by above it. */
export class LiveScreen {
  readonly #terminal: Terminal;
  #lines: readonly string[] = [];
  #drawn = 0;
  #hidden = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws the block in place of the last one. Lines must fit the terminal's width; those beyond its height are only counted. */
  show(lines: readonly string[]): void {
    const height = Math.max(2, (this.#terminal.rows ?? DEFAULT_ROWS) - 1);
    const hidden = lines.length - height + 1;
    const rest = fitLine(`... and ${hidden} more lines`, this.#terminal);
    this.#lines = hidden > 1 ? [...lines.slice(0, height - 1), rest] : lines;
    this.#draw("");
  }

  /** Writes a line that stays, above the block. */
  say(line: string): void {
    this.#draw(`${line}\n`);
  }

  /** Leaves the block as it is and gives the cursor back. Idempotent. */
  close(): void {
    if (this.#hidden) this.#terminal.write(SHOW_CURSOR);
    this.#hidden = false;
    this.#lines = [];
    this.#drawn = 0;
  }

  /** One write for all, so that nothing flickers. */
  #draw(above: string): void {
    const up = this.#drawn > 0 ? `\r\u001b[${this.#drawn}A` : "\r";
    const hide = this.#hidden || this.#lines.length === 0 ? "" : HIDE_CURSOR;
    this.#hidden ||= this.#lines.length > 0;
    this.#drawn = this.#lines.length;
    this.#terminal.write(`${hide}${up}${CLEAR_DOWN}${above}${this.#lines.map((line) => `${line}\n`).join("")}`);
  }
}

/** A line of plain text cut to the terminal's width. */
export function fitLine(text: string, terminal: Terminal): string {
  return terminal.columns === undefined ? text : cutText(text, terminal.columns);
}
