/** What a scalar can be. Integers beyond 2^53 are bigints. */
export type ScalarValue = string | number | bigint | boolean | null;

/** One value of a manifest with the place where it stands. Aliases share nodes. */
export type ManifestNode = ScalarNode | SequenceNode | MappingNode;

/** A string, number, boolean or nothing. */
export interface ScalarNode {
  readonly kind: "scalar";
  /** UTF-16 offset in the text; -1 for an empty value that stands nowhere. */
  readonly offset: number;
  readonly value: ScalarValue;
  /** How the text has it, without quotes: for messages. */
  readonly source: string;
}

/** A list. */
export interface SequenceNode {
  readonly kind: "sequence";
  readonly offset: number;
  readonly items: readonly ManifestNode[];
}

/** An object: members by name. */
export interface MappingNode {
  readonly kind: "mapping";
  readonly offset: number;
  /** By key; of a key that is written twice the last one. */
  readonly members: ReadonlyMap<string, Member>;
}

/** A member of a mapping. */
export interface Member {
  readonly keyOffset: number;
  readonly value: ManifestNode;
}

/** Something odd that does no harm. */
export interface NodeWarning {
  readonly offset: number;
  readonly message: string;
}

/** What was read of a text. */
export interface ParsedText {
  readonly root: ManifestNode;
  readonly warnings: readonly NodeWarning[];
}

/** A fault in the text itself. */
export class TextFault extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.name = "TextFault";
    this.offset = offset;
  }
}
