import { stringifyJson } from "../../api/index.ts";

/** What is wrong with one field; the words are those of Kubernetes' field errors. */
export type ProblemKind =
  | "Required value"
  | "Invalid value"
  | "Duplicate value"
  | "Unsupported value"
  | "Forbidden"
  | "Not found"
  | "Too long"
  | "Too many";

/** One fault of an object. */
export interface FieldProblem {
  /** As in `spec.containers[0].name`. */
  readonly path: string;
  readonly kind: ProblemKind;
  /** Kind, value and what was expected, as the API server words it. */
  readonly message: string;
}

const SHOWN_LENGTH = 256;

/** Collects everything that is wrong, so that all of it is told at once. */
export class Problems {
  readonly list: FieldProblem[] = [];

  required(fault: { readonly path: string; readonly detail?: string }): void {
    this.#add("Required value", fault);
  }

  invalid(fault: { readonly path: string; readonly value: unknown; readonly detail: string }): void {
    this.#add("Invalid value", fault);
  }

  duplicate(fault: { readonly path: string; readonly value: unknown }): void {
    this.#add("Duplicate value", fault);
  }

  notFound(fault: { readonly path: string; readonly value: unknown }): void {
    this.#add("Not found", fault);
  }

  forbidden(fault: { readonly path: string; readonly detail: string }): void {
    this.#add("Forbidden", fault);
  }

  /** `value` is none of the words that are allowed. */
  unsupported(fault: { readonly path: string; readonly value: unknown; readonly supported: readonly string[] }): void {
    const detail = `supported values: ${fault.supported.map((word) => JSON.stringify(word)).join(", ")}`;
    this.#add("Unsupported value", { ...fault, detail });
  }

  tooLong(fault: { readonly path: string; readonly maxBytes: number }): void {
    this.#add("Too long", { path: fault.path, detail: `may not be more than ${fault.maxBytes} bytes` });
  }

  tooMany(fault: { readonly path: string; readonly count: number; readonly max: number }): void {
    this.#add("Too many", { path: fault.path, value: fault.count, detail: `must have at most ${fault.max} items` });
  }

  /** One `invalid` for each of the messages that a format check gave. */
  invalidAll(fault: { readonly path: string; readonly value: unknown; readonly details: readonly string[] }): void {
    for (const detail of fault.details) this.invalid({ path: fault.path, value: fault.value, detail });
  }

  #add(kind: ProblemKind, fault: { readonly path: string; readonly value?: unknown; readonly detail?: string }): void {
    const value = "value" in fault ? `: ${show(fault.value)}` : "";
    const detail = fault.detail === undefined || fault.detail === "" ? "" : `: ${fault.detail}`;
    this.list.push({ path: fault.path, kind, message: `${kind}${value}${detail}` });
  }
}

function show(value: unknown): string {
  const text = value === undefined ? '""' : stringifyJson(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

/** The problem on one line: `spec.containers[0].name: Required value`. */
export function formatProblem(problem: FieldProblem): string {
  return `${problem.path}: ${problem.message}`;
}
