import { type FieldPlaces, findFields, PLACE_SIZE } from "./wire-fields.ts";

/** What is known of the rows that a list holds. */
export interface RowCacheOptions<Row> {
  /** Number of the field that names a row. */
  readonly idField: number;
  /** Numbers of the fields that are maps: a runtime may send their entries in another order each time. */
  readonly mapFields: ReadonlySet<number>;
  readonly decode: (bytes: Uint8Array) => Row;
}

interface CachedRow<Row> {
  readonly bytes: Buffer;
  readonly places: FieldPlaces;
  readonly row: Row;
}

/** Both list answers of CRI have their rows in this field. */
const ROWS_FIELD = 1;

/**
 * Reads list answers whose rows hardly change from one to the next, as a relist each second gives them: a row that says what it said before is
 * the same object again, and is not decoded. Rows are compared by all their bytes.
 */
export class RowCache<Row> {
  readonly #options: RowCacheOptions<Row>;
  readonly #rows = new Map<string, CachedRow<Row>>();

  constructor(options: RowCacheOptions<Row>) {
    this.#options = options;
  }

  /** The rows of an answer in its order. After a `whole` list rows that are not in it are forgotten. */
  read(answer: Buffer, options: { readonly whole: boolean }): readonly Row[] {
    const rows: Row[] = [];
    const seen = new Set<string>();
    const places = findFields(answer, { begin: 0, end: answer.length });
    for (let at = 0; at < places.length; at += PLACE_SIZE) {
      if (places[at] !== ROWS_FIELD) continue;
      const bytes = answer.subarray(places[at + 2], places[at + 3]);
      const { id, row } = this.#row(bytes);
      seen.add(id);
      rows.push(row);
    }
    if (options.whole) for (const id of this.#rows.keys()) if (!seen.has(id)) this.#rows.delete(id);
    return rows;
  }

  #row(bytes: Buffer): { readonly id: string; readonly row: Row } {
    const places = findFields(bytes, { begin: 0, end: bytes.length });
    const id = this.#idOf(bytes, places);
    const known = this.#rows.get(id);
    if (known !== undefined && sameFields({ bytes, places }, known, this.#options.mapFields))
      return { id, row: known.row };
    const row = this.#options.decode(bytes);
    // A copy: a part of the answer would keep all of it.
    if (id !== "") this.#rows.set(id, { bytes: Buffer.from(bytes), places, row });
    return { id, row };
  }

  /** Empty for a row without one: such a row is never known. */
  #idOf(bytes: Buffer, places: FieldPlaces): string {
    for (let at = 0; at < places.length; at += PLACE_SIZE) {
      if (places[at] === this.#options.idField) return bytes.toString("latin1", places[at + 2], places[at + 3]);
    }
    return "";
  }
}

interface Message {
  readonly bytes: Buffer;
  readonly places: FieldPlaces;
}

/** True when both have the same fields with the same bytes in the same order, but for the entries of maps, which have none. */
function sameFields(left: Message, right: Message, mapFields: ReadonlySet<number>): boolean {
  if (left.bytes.length !== right.bytes.length || left.places.length !== right.places.length) return false;
  if (left.bytes.equals(right.bytes)) return true;
  const taken = new Set<number>();
  for (let at = 0; at < left.places.length; at += PLACE_SIZE) {
    if (sameField(left, at, right, at) && !taken.has(at)) {
      taken.add(at);
      continue;
    }
    if (!mapFields.has(left.places[at] ?? 0)) return false;
    let found = 0;
    while (found < right.places.length && (taken.has(found) || !sameField(left, at, right, found))) found += PLACE_SIZE;
    if (found >= right.places.length) return false;
    taken.add(found);
  }
  return true;
}

/** Compares tag and content. */
function sameField(left: Message, leftAt: number, right: Message, rightAt: number): boolean {
  const [leftBegin = 0, leftEnd = 0] = [left.places[leftAt + 1], left.places[leftAt + 3]];
  const [rightBegin = 0, rightEnd = 0] = [right.places[rightAt + 1], right.places[rightAt + 3]];
  return (
    leftEnd - leftBegin === rightEnd - rightBegin &&
    left.bytes.compare(right.bytes, rightBegin, rightEnd, leftBegin, leftEnd) === 0
  );
}
