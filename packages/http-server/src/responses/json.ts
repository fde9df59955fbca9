import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { stringifyJson } from "@nodelet/core";

const CHUNK_LENGTH = 64 * 1024;

/** Sends one JSON value. */
export function sendJson(
  response: ServerResponse,
  content: { readonly status?: number; readonly value: unknown },
): void {
  const text = `${stringifyJson(content.value)}\n`;
  response.writeHead(content.status ?? 200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/**
 * Sends a JSON object whose last field `items` is a list, item by item: a long list neither holds the event loop nor stands in memory twice.
 * Resolves when it is sent or the client went away; a client that does not read holds up only its own answer.
 */
export async function sendJsonList(
  response: ServerResponse,
  content: { readonly head: Readonly<Record<string, unknown>>; readonly items: readonly unknown[] },
): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  try {
    await pipeline(Readable.from(listChunks(content), { objectMode: false }), response);
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

async function* listChunks(content: {
  readonly head: Readonly<Record<string, unknown>>;
  readonly items: readonly unknown[];
}): AsyncGenerator<string> {
  let chunk = stringifyJson({ ...content.head, items: [] }).slice(0, -2);
  for (const [index, item] of content.items.entries()) {
    chunk += index === 0 ? stringifyJson(item) : `,${stringifyJson(item)}`;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
    await setImmediate();
  }
  yield `${chunk}]}\n`;
}
