/** Longest message of an event: the API takes 1024 characters. */
const MESSAGE_LIMIT = 1024;

/** The message, cut where it is too long to be told. */
export function clipMessage(text: string): string {
  return text.length > MESSAGE_LIMIT ? `${text.slice(0, MESSAGE_LIMIT - 3)}...` : text;
}
