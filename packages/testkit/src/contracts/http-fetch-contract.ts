import type { HttpAnswer, HttpFetch, HttpGetRequest } from "@nodelet/core";
import { expect } from "vitest";
import type { HttpHandler, ServedRequest } from "../http/in-memory-http-fetch.ts";
import { type ContractFixture, type ContractOptions, type ContractTest, describeContract } from "./contract.ts";
import { expectFailure, firedSignal } from "./expect-failure.ts";

/** An HttpFetch and servers for it. */
export interface HttpFetchFixture extends ContractFixture {
  readonly fetch: HttpFetch;
  /** Lets a server listen on a host of its own and answers its origin. */
  readonly serve: (handler: HttpHandler) => Promise<string>;
  /** A URL whose host refuses connections, without user or password. */
  readonly refusingUrl: string;
}

const textOf = (answer: HttpAnswer) => new TextDecoder().decode(answer.body);
const valuesOf = (request: ServedRequest | undefined, name: string) =>
  (request?.headers ?? []).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
const get = ({ fetch }: HttpFetchFixture, request: Partial<HttpGetRequest> & { readonly url: string }) =>
  fetch.get({ headers: [], timeoutMs: 5_000, maxBytes: 1_000, ...request });

/** What every HttpFetch must do. */
export function describeHttpFetchContract(options: ContractOptions<HttpFetchFixture>): void {
  describeContract("HttpFetch contract", options, (test) => {
    defineAnswerTests(test);
    defineRedirectTests(test);
    defineBoundTests(test);
  });
}

function defineAnswerTests(test: ContractTest<HttpFetchFixture>): void {
  test("any status is an answer, with its words and its body", async (fixture) => {
    const origin = await fixture.serve(({ url }) =>
      url.endsWith("/pods?x=1") ? { body: "ünï" } : { status: 404, body: "none" },
    );
    const found = await get(fixture, { url: `${origin}/pods?x=1` });
    expect([found.status, found.statusText, textOf(found)]).toEqual([200, "OK", "ünï"]);
    const missing = await get(fixture, { url: `${origin}/other` });
    expect([missing.status, missing.statusText, textOf(missing)]).toEqual([404, "Not Found", "none"]);
  });

  test("the given headers are sent, several of one name in order", async (fixture) => {
    let seen: ServedRequest | undefined;
    const origin = await fixture.serve((request) => {
      seen = request;
      return {};
    });
    const headers = [
      ["X-Token", "one"],
      ["x-token", "two"],
      ["Host", "pods.example"],
    ] as const;
    await get(fixture, { url: origin, headers });
    expect(valuesOf(seen, "x-token").join(", ")).toBe("one, two");
    expect(valuesOf(seen, "host")).toEqual(["pods.example"]);
  });

  test("a host that refuses is unavailable", async (fixture) => {
    await expectFailure(get(fixture, { url: fixture.refusingUrl }), "unavailable");
  });

  test("what is no http URL, and a header that cannot be sent, is invalid", async (fixture) => {
    const origin = await fixture.serve(() => ({}));
    await expectFailure(get(fixture, { url: "not a url" }), "invalid");
    await expectFailure(get(fixture, { url: "file:///etc/passwd" }), "invalid");
    await expectFailure(get(fixture, { url: origin, headers: [["bad name", "x"]] }), "invalid");
    await expectFailure(get(fixture, { url: origin, headers: [["x", "a\r\nInjected: b"]] }), "invalid");
  });

  test("no message tells a password of the URL", async (fixture) => {
    const url = fixture.refusingUrl.replace("://", "://user:hunter2@");
    const refused = await expectFailure(get(fixture, { url }), "unavailable");
    const broken = await expectFailure(get(fixture, { url: "ht!tp://user:hunter2@host" }), "invalid");
    expect(refused.message + broken.message).not.toContain("hunter2");
  });
}

function defineRedirectTests(test: ContractTest<HttpFetchFixture>): void {
  test("redirects are followed, and the headers stay with the host that was named", async (fixture) => {
    const seen: Record<string, readonly string[]> = {};
    const note = (request: ServedRequest, host: string) => {
      const { pathname } = new URL(request.url);
      seen[`${host} ${pathname}`] = valuesOf(request, "authorization");
      return pathname;
    };
    const other = await fixture.serve((request) => ({ body: note(request, "other") }));
    const origin = await fixture.serve((request) => ({
      status: 302,
      location: note(request, "first") === "/" ? "/two" : `${other}/end`,
    }));
    const answer = await get(fixture, { url: `${origin}/`, headers: [["Authorization", "Bearer t"]] });
    expect(textOf(answer)).toBe("/end");
    expect(seen).toEqual({ "first /": ["Bearer t"], "first /two": ["Bearer t"], "other /end": [] });
  });

  test("ten redirects are followed and no more, and none to what is no http URL", async (fixture) => {
    const origin = await fixture.serve(({ url }) => {
      const left = Number(new URL(url).pathname.slice(1));
      return left === 0 ? { body: "end" } : { status: 301, location: `/${left - 1}` };
    });
    expect(textOf(await get(fixture, { url: `${origin}/10` }))).toBe("end");
    await expectFailure(get(fixture, { url: `${origin}/11` }), "unavailable");
    const outside = await fixture.serve(() => ({ status: 302, location: "file:///etc/passwd" }));
    await expectFailure(get(fixture, { url: outside }), "invalid");
  });
}

function defineBoundTests(test: ContractTest<HttpFetchFixture>): void {
  test("a body of maxBytes fits, one byte more does not", async (fixture) => {
    const origin = await fixture.serve(({ url }) => ({ body: "x".repeat(url.endsWith("/fits") ? 1_000 : 1_001) }));
    expect((await get(fixture, { url: `${origin}/fits` })).body).toHaveLength(1_000);
    await expectFailure(get(fixture, { url: `${origin}/long` }), "resourceExhausted");
  });

  test("a server that says nothing runs out of time", async (fixture) => {
    const origin = await fixture.serve(() => undefined);
    await expectFailure(get(fixture, { url: origin, timeoutMs: 100 }), "deadline");
  });

  test("a caller that gives up is answered at once", async (fixture) => {
    const origin = await fixture.serve(() => undefined);
    const abort = new AbortController();
    const call = get(fixture, { url: origin, timeoutMs: 60_000, signal: abort.signal });
    abort.abort();
    await expectFailure(call, "cancelled");
    await expectFailure(get(fixture, { url: origin, signal: firedSignal() }), "cancelled");
  });
}
