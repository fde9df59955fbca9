import { NodeletError } from "../../errors/index.ts";

/** What resolv.conf(5) says, as far as pods take it over. */
export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/**
 * Parses resolv.conf: nameservers add up, the last `search` and `options` lines win, a trailing dot of a search domain is dropped so
 * that it counts once. Throws `invalid` for a nameserver line without an address.
 */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver") {
      const [server] = values;
      if (server === undefined) throw new NodeletError("invalid", "nameserver list is empty ");
      servers.push(server);
    } else if (keyword === "search") {
      searches = values.map((domain) => (domain === "." ? domain : domain.replace(/\.$/, "")));
    } else if (keyword === "options") {
      options = values;
    }
  }
  return { servers, searches, options };
}
