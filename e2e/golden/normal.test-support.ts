import type { Names } from "./recorded-node.test-support.ts";

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const POD_IP = /\b10\.244\.\d+\.\d+\b/g;
const HOST_IP = /\b192\.0\.2\.2\b/g;
/** The random end of a termination log's path on the host. */
const RANDOM = /(\/containers\/[^/]+\/)[0-9a-f]{8}\b/g;

/** What a run said, with the placeholders of the recordings. Works on recordings too, whose base64 holds what was really sent. */
export function normal(value: unknown, names: Names = new Map()): unknown {
  return walk(JSON.parse(JSON.stringify(value, bigintAsText)) as Json, (text) => placeholders(text, names));
}

function placeholders(text: string, names: Names): string {
  let result = text;
  for (const [from, to] of names) if (from !== "") result = result.replaceAll(from, to);
  return result
    .replace(UUID, "POD_UID")
    .replace(TIME, "TIME")
    .replace(POD_IP, "POD_IP")
    .replace(HOST_IP, "HOST_IP")
    .replace(RANDOM, "$1RANDOM");
}

function walk(value: Json, replace: (text: string) => string): Json {
  if (typeof value === "string") return replace(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, replace));
  const members = Object.entries(value).map(([key, member]): [string, Json] => {
    if (key === "envs" && Array.isArray(member)) return [key, environment(member, replace)];
    // Go merges options in a map: they come in any order.
    if (key === "options" && Array.isArray(member)) return [key, [...(member as string[])].sort()];
    return [key, walk(member, replace)];
  });
  return Object.fromEntries(members);
}

/** Variables in clear text; those of services, and those that the pod names, each in one order, since Go keeps them in maps. */
function environment(envs: Json[], replace: (text: string) => string): Json {
  const plain = (envs as { key: string; value?: string }[]).map(
    ({ key, value = "" }) => `${key}=${replace(Buffer.from(value, "base64").toString("utf8"))}`,
  );
  const first = plain.findIndex((entry) => /^(KUBERNETES|WEB_SVC)_/.test(entry));
  const own = first === -1 ? plain : plain.slice(0, first);
  const services = first === -1 ? [] : plain.slice(first);
  return { own: own.sort(), services: services.sort() };
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
