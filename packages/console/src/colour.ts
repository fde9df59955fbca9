/** Whether a stream takes colours: a terminal that can, and nobody asked for none (https://no-color.org). */
export function takesColour(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}
