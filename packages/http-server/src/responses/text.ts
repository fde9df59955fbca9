import type { ServerResponse } from "node:http";

/** Sends plain text with the headers of Go's http.Error and of upstream's health texts. */
export function sendText(
  response: ServerResponse,
  content: { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> },
): void {
  response.writeHead(content.status, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-length": Buffer.byteLength(content.text),
    ...content.headers,
  });
  response.end(content.text);
}

/** 404 as Go's mux answers it. */
export function sendNotFound(response: ServerResponse): void {
  sendText(response, { status: 404, text: "404 page not found\n" });
}

/** 405 as upstream's router answers it. */
export function sendMethodNotAllowed(response: ServerResponse, options: { readonly allowed: readonly string[] }): void {
  const headers = { allow: options.allowed.join(", ") };
  sendText(response, { status: 405, text: "405: Method Not Allowed", headers });
}
