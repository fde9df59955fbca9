/** Checks of values, each answering the end of a sentence that begins with the setting's name, or undefined. */

/** 0 or more. */
export function notNegative(value: number): string | undefined {
  return value < 0 ? "must be 0 or more" : undefined;
}

/** More than 0. */
export function positive(value: number): string | undefined {
  return value <= 0 ? "must be more than 0" : undefined;
}

/** A port, or 0 for none. */
export function portOrNone(value: number): string | undefined {
  return value < 0 || value > 65_535 ? "must be a port (1 to 65535), or 0 to switch it off" : undefined;
}

/** One of a few words. */
export function oneOf(...words: readonly string[]): (value: string) => string | undefined {
  return (value) => (words.includes(value) ? undefined : `must be one of ${words.join(", ")}`);
}

/** Between two bounds, both included. */
export function between(bounds: {
  readonly least: number;
  readonly most: number;
}): (value: number) => string | undefined {
  const { least, most } = bounds;
  return (value) => (value < least || value > most ? `must be from ${least} to ${most}` : undefined);
}

/** An absolute path in its shortest form. */
export function cleanPath(value: string): string | undefined {
  const isClean = /^\/(?:[^/]+(?:\/[^/]+)*)?$/.test(value) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(value);
  return isClean ? undefined : "must be an absolute path without . and .. and doubled slashes";
}

/** {@link cleanPath}, in ASCII: runtimes write it into files of their own. */
export function asciiPath(value: string): string | undefined {
  return /^[\x20-\x7e]*$/.test(value) ? cleanPath(value) : "must have ASCII characters only";
}

/** Not empty. */
export function notEmpty(value: string): string | undefined {
  return value === "" ? "must not be empty" : undefined;
}
