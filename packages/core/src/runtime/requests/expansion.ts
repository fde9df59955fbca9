import { NodeletError } from "../../errors/index.ts";

/** Longest text that an expansion may give: eight times what the kernel takes as one argument (MAX_ARG_STRLEN). */
export const MAX_EXPANDED_CHARS = 1_048_576;

/**
 * Replaces `$(NAME)` by what `lookUp` gives; unknown names stay as they are written, `$$` stands for one `$`, an open `$(` without an end is
 * literal. What is put in is not expanded again. Throws `invalid` when the result is beyond 1 MiB: references to references can
 * double a text each time.
 */
export function expandReferences(text: string, lookUp: (name: string) => string | undefined): string {
  const lastCloser = text.lastIndexOf(")");
  let expanded = "";
  let position = 0;
  while (position < text.length) {
    const dollar = text.indexOf("$", position);
    if (dollar === -1 || dollar === text.length - 1) break;
    expanded += text.slice(position, dollar);
    const next = text[dollar + 1];
    if (next === "(" && lastCloser > dollar) {
      const closer = text.indexOf(")", dollar + 2);
      const name = text.slice(dollar + 2, closer);
      expanded += lookUp(name) ?? `$(${name})`;
      position = closer + 1;
    } else {
      expanded += next === "$" ? "$" : `$${next}`;
      position = dollar + 2;
    }
    assertBounded(expanded);
  }
  expanded += text.slice(position);
  assertBounded(expanded);
  return expanded;
}

function assertBounded(text: string): void {
  if (text.length > MAX_EXPANDED_CHARS) {
    const limit = `${MAX_EXPANDED_CHARS} characters`;
    throw new NodeletError("invalid", `expanding $(NAME) references gives more than ${limit}: use shorter values`);
  }
}
