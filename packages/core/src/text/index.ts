/** Text in Go's forms, which configuration is written in and the kubelet's messages are. */
export { goDuration, parseGoDuration } from "./go-duration.ts";
export { goQuote } from "./go-quote.ts";
