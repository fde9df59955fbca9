/** One thing that a rule objects to. A `warning` is shown and fails nothing. */
export interface Finding {
  severity: "error" | "warning";
  /** Path from the repository's root, with forward slashes. */
  file: string;
  /** Counted from 1; absent when the whole file is meant. */
  line?: number;
  /** What is wrong, and what to do. */
  message: string;
}

/** An error finding, the usual kind. */
export function error(file: string, message: string, line?: number): Finding {
  return line === undefined ? { severity: "error", file, message } : { severity: "error", file, line, message };
}

/** `file:line: message`, as editors and terminals link it. */
export function formatFinding(finding: Finding): string {
  const place = finding.line === undefined ? finding.file : `${finding.file}:${finding.line}`;
  return `${place}: ${finding.severity === "warning" ? "warning: " : ""}${finding.message}`;
}
