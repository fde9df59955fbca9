import type { CriContainerState, SandboxState } from "@nodelet/core";

/** A change that took effect in the in-memory runtime. `to` is undefined when the object was removed, `from` when it was made. */
export type RuntimeChange =
  | {
      readonly kind: "sandbox";
      readonly sandboxId: string;
      readonly podUid: string;
      readonly attempt: number;
      readonly from: SandboxState | undefined;
      readonly to: SandboxState | undefined;
      readonly atMs: number;
    }
  | {
      readonly kind: "container";
      readonly containerId: string;
      readonly containerName: string;
      readonly sandboxId: string;
      readonly podUid: string;
      readonly attempt: number;
      readonly from: CriContainerState | undefined;
      readonly to: CriContainerState | undefined;
      readonly atMs: number;
    };
