/** An event about a pod or the node, as `kubectl describe` shows it (core/v1 Event). */
export interface NodeEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly involved: {
    readonly kind: "Pod" | "Node";
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    /** `spec.containers{c}` for events about one container. */
    readonly fieldPath?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
  /** Wall time, milliseconds since the epoch. */
  readonly atMs: number;
}

/** Takes events. Never throws, never blocks; may merge and drop. */
export interface EventSink {
  emit(event: NodeEvent): void;
}
