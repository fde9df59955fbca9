import type { AgentWindow } from "@nodelet/console";

/** A node that `npm start` shows: real, or simulated. */
export interface DemoNode {
  readonly window: AgentWindow;
  /** One line that says what runs here. */
  readonly title: string;
  /** Lines of advice below the table. */
  readonly hints: readonly string[];
  /** Rejects when the agent ends although nobody asked it to; never resolves. */
  readonly failure: Promise<never>;
  /** Takes the pods away at their source; the agent then stops them with their grace. */
  withdrawPods(): Promise<void>;
  /** Takes everything down, in the order in which that is possible. Idempotent. */
  close(): Promise<void>;
}

/** Told what is being done, a line at a time. */
export type Say = (line: string) => void;

/** Something that people can set right: shown without a stack trace. */
export class StartProblem extends Error {
  override readonly name = "StartProblem";
}
