/** Schemas of Kubernetes objects as data: what a decoder, a validator or a merge needs to know of a field. */

/** What a value must be. "bytes" is base64 text, "any" is kept as it is, "object" is described by `of`. */
export type FieldType =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "quantity"
  | "intOrString"
  | "time"
  | "microTime"
  | "bytes"
  | "any"
  | "object";

/** One field of an object. With `list` or `map`, `type` and `of` describe the elements or the values. */
export interface FieldSchema {
  readonly type: FieldType;
  /** Name of the object's schema in the same set; given when `type` is "object". */
  readonly of?: string;
  /** The field is an array; how its elements are told apart when it is merged. */
  readonly list?: "atomic" | "set" | "map";
  /** With `list: "map"`: the fields that name an element. */
  readonly keys?: readonly string[];
  /** The field is an object with free keys. */
  readonly map?: true;
  /** Strategic merge patch: the field that names an element. */
  readonly mergeKey?: string;
  /** Strategic merge patch: "merge", "retainKeys", "replace"; without it the field is replaced. */
  readonly patch?: readonly string[];
}

/** One object type. */
export interface ObjectSchema {
  readonly fields: Readonly<Record<string, FieldSchema>>;
  /** Fields that must be there. */
  readonly required: readonly string[];
  /** The object is replaced as a whole by server-side apply. */
  readonly atomic?: true;
}

/** Object types by name. Look names up with `Object.hasOwn`: they may come from outside. */
export type SchemaSet = Readonly<Record<string, ObjectSchema>>;
