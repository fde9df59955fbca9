import { findFields, PLACE_SIZE } from "./wire-fields.ts";

/** Fields of ContainerEventResponse, and of the PodSandboxStatus in it. */
const SANDBOX_FIELD = 4;
const CONTAINERS_FIELD = 5;
const ID_FIELD = 1;
const METADATA_FIELD = 2;
const LENGTH_WIRE_TYPE = 2;

/**
 * A container event without the statuses of sandbox and containers that come with it: of the sandbox its id and metadata stay. An event only hastens
 * a look, and decoding what it says of a whole pod costs more than all the rest of it.
 */
export function trimContainerEvent(bytes: Buffer): Buffer {
  const kept: Buffer[] = [];
  const places = findFields(bytes, { begin: 0, end: bytes.length });
  for (let at = 0; at < places.length; at += PLACE_SIZE) {
    const [field, begin, contentBegin, end] = places.slice(at, at + PLACE_SIZE);
    if (field === SANDBOX_FIELD) kept.push(...sandboxOf(bytes.subarray(contentBegin, end)));
    else if (field !== CONTAINERS_FIELD) kept.push(bytes.subarray(begin, end));
  }
  return Buffer.concat(kept);
}

function sandboxOf(status: Buffer): readonly Buffer[] {
  const kept: Buffer[] = [];
  const places = findFields(status, { begin: 0, end: status.length });
  for (let at = 0; at < places.length; at += PLACE_SIZE) {
    const [field, begin, , end] = places.slice(at, at + PLACE_SIZE);
    if (field === ID_FIELD || field === METADATA_FIELD) kept.push(status.subarray(begin, end));
  }
  const content = Buffer.concat(kept);
  return [Buffer.from([(SANDBOX_FIELD << 3) | LENGTH_WIRE_TYPE, ...varint(content.length)]), content];
}

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}
