import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import {
  type ManifestNode,
  type MappingNode,
  type Member,
  type NodeWarning,
  type ParsedText,
  type ScalarNode,
  type ScalarValue,
  type SequenceNode,
  TextFault,
} from "./node.ts";
import { resolvePlainScalar } from "./yaml-scalars.ts";

/** Levels of collections inside one another. */
const MAX_DEPTH = 100;

/** Parses one YAML document. Throws TextFault; undefined when there is nothing in it. */
export function parseYamlNodes(text: string): ParsedText | undefined {
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof YAMLException) throw new TextFault(error.mark?.position ?? 0, error.reason);
    throw error;
  }
  if (events.length === 0) return undefined;
  const builder = new Builder(text, events);
  const root = builder.document();
  return { root, warnings: builder.warnings };
}

/** Builds nodes from the event stream. Depth is bounded by the parser, so recursion is. */
class Builder {
  readonly warnings: NodeWarning[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #anchors = new Map<string, ManifestNode>();
  readonly #open = new Set<string>();
  #next = 0;
  /** Where the last thing stood that stands somewhere: empty values have no place of their own. */
  #lastOffset = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  document(): ManifestNode {
    this.#take();
    return this.#node();
  }

  #take(): Event {
    const event = this.#events[this.#next++];
    if (event === undefined) throw new TextFault(this.#text.length, "the document ends too early");
    return event;
  }

  #node(): ManifestNode {
    const event = this.#take();
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event));
      case EVENT_ID.SEQUENCE:
        this.#lastOffset = event.start;
        return this.#anchored(event, () => this.#sequence(event.start));
      case EVENT_ID.MAPPING:
        this.#lastOffset = event.start;
        return this.#anchored(event, () => this.#mapping(event.start));
      case EVENT_ID.ALIAS:
        return this.#alias(event);
      default:
        throw new TextFault(this.#lastOffset, "expected a value");
    }
  }

  #anchored(
    event: { readonly anchorStart: number; readonly anchorEnd: number },
    build: () => ManifestNode,
  ): ManifestNode {
    if (event.anchorStart < 0) return build();
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    this.#open.add(name);
    const node = build();
    this.#open.delete(name);
    this.#anchors.set(name, node);
    return node;
  }

  #alias(event: { readonly anchorStart: number; readonly anchorEnd: number }): ManifestNode {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    if (this.#open.has(name)) throw new TextFault(event.anchorStart, `anchor "${name}" contains itself`);
    const node = this.#anchors.get(name);
    if (node === undefined) throw new TextFault(event.anchorStart, `no anchor "${name}" before this alias`);
    return node;
  }

  #scalar(event: ScalarEvent): ScalarNode {
    const offset = this.#offsetOf(event);
    this.#lastOffset = offset;
    const source = getScalarValue(this.#text, event);
    return { kind: "scalar", offset, source, value: this.#scalarValue({ event, source, offset }) };
  }

  /** Where the scalar begins, its quote included. */
  #offsetOf(event: ScalarEvent): number {
    if (event.valueStart < 0) return this.#lastOffset;
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return isQuoted ? event.valueStart - 1 : event.valueStart;
  }

  #scalarValue(scalar: { readonly event: ScalarEvent; readonly source: string; readonly offset: number }): ScalarValue {
    const { event, source, offset } = scalar;
    const tag = event.tagStart < 0 ? "" : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === "!!str" || tag === "!" || (tag === "" && event.style !== SCALAR_STYLE.PLAIN)) return source;
    if (!["", "!!int", "!!float", "!!bool", "!!null"].includes(tag)) {
      throw new TextFault(event.tagStart, `the tag ${tag} has no meaning here`);
    }
    const value = resolvePlainScalar(source);
    if (value === undefined) throw new TextFault(offset, `the number ${source} has no JSON form`);
    if (tag !== "" && !fits(tag, value))
      throw new TextFault(offset, `${JSON.stringify(source)} is not a ${tag.slice(2)}`);
    return value;
  }

  #sequence(offset: number): SequenceNode {
    const items: ManifestNode[] = [];
    while (!this.#closes()) items.push(this.#node());
    return { kind: "sequence", offset, items };
  }

  #mapping(offset: number): MappingNode {
    const members = new Map<string, Member>();
    const merged = new Map<string, Member>();
    while (!this.#closes()) {
      const keyNode = this.#node();
      const key = keyText(keyNode);
      const value = this.#node();
      if (key === "<<" && keyNode.kind === "scalar" && keyNode.value === "<<") {
        for (const [name, member] of mergedMembers(value)) if (!merged.has(name)) merged.set(name, member);
        continue;
      }
      if (members.has(key)) {
        this.warnings.push({
          offset: keyNode.offset,
          message: `the key ${JSON.stringify(key)} is written twice; the last one counts`,
        });
        members.delete(key);
      }
      members.set(key, { keyOffset: keyNode.offset, value });
    }
    for (const [name, member] of merged) if (!members.has(name)) members.set(name, member);
    return { kind: "mapping", offset, members };
  }

  #closes(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false;
    this.#next += 1;
    return true;
  }
}

function fits(tag: string, value: ScalarValue): boolean {
  switch (tag) {
    case "!!int":
      return typeof value === "bigint" || Number.isInteger(value);
    case "!!float":
      return typeof value === "number" || typeof value === "bigint";
    case "!!bool":
      return typeof value === "boolean";
    default:
      return value === null;
  }
}

/** Keys are text in JSON: other scalars are written as JSON has them. */
function keyText(node: ManifestNode): string {
  if (node.kind !== "scalar" || node.value === null) throw new TextFault(node.offset, "a key must be a plain value");
  return String(node.value);
}

/** The members that a merge key brings: of one mapping, or of several, the earlier first. */
function mergedMembers(node: ManifestNode): [string, Member][] {
  if (node.kind === "mapping") return [...node.members];
  if (node.kind === "sequence") return node.items.flatMap(mergedMembers);
  throw new TextFault(node.offset, "a merge key (<<) takes a mapping or a list of mappings");
}
