import { type Clock, type Container, DirectoryPodSource, type Pod, type PodSource } from "@nodelet/core";
import { silentLogger } from "../logging/memory-logger.ts";
import { InMemoryDirectoryWatch } from "../manifests/in-memory-directory-watch.ts";
import type { SeededRandom } from "../random/seeded-random.ts";
import { randomSpec } from "./chaos-pods.test-support.ts";

const FOLDER = "/etc/kubernetes/manifests";
const NAMES = ["s0", "s1", "s2"];
/** Of two such pods only one finds room: who replaces the other must wait for it, and not be turned away. */
const GREEDY: readonly Partial<Container>[] = [
  { ports: [{ containerPort: 8080, hostPort: 8080 }] },
  { resources: { requests: { cpu: "1200m" } } },
  {},
];

/** A folder of manifests that somebody writes, edits, tears, swaps, removes and brings back. */
export class ChaosManifests {
  /** Each run is one process of the agent: its watch ends with `endLives`. */
  readonly source: PodSource;
  readonly #random: SeededRandom;
  readonly #clock: () => Clock;
  readonly #files = new Map<string, Pod>();
  readonly #removed = new Map<string, Pod>();
  readonly #lives = new Set<AbortController>();
  #watch: InMemoryDirectoryWatch | undefined;

  constructor(options: { readonly random: SeededRandom; readonly clock: () => Clock; readonly nodeName: string }) {
    this.#random = options.random;
    this.#clock = options.clock;
    this.source = {
      name: "file",
      run: ({ signal, ...run }) => {
        const life = new AbortController();
        this.#lives.add(life);
        const source = new DirectoryPodSource({
          watch: this.#folder,
          clock: options.clock(),
          logger: silentLogger,
          path: FOLDER,
          nodeName: options.nodeName,
          fileCheckFrequencyMs: 20_000,
        });
        return source.run({ ...run, signal: AbortSignal.any([signal, life.signal]) });
      },
    };
  }

  /** Names of the pods that the folder gives in the end. */
  get podNames(): readonly string[] {
    return [...this.#files.values()].map((pod) => pod.metadata?.name ?? "");
  }

  /** The agent was killed: nobody looks at the folder for it any more. */
  endLives(): void {
    for (const life of this.#lives) life.abort();
    this.#lives.clear();
  }

  change(): void {
    const random = this.#random;
    const file = random.pick(NAMES);
    random.pick([
      () => this.#write(file, this.#files.get(file) ?? this.#newPod(file)),
      () => this.#write(file, this.#edited(file)),
      () => this.#write(file, this.#edited(file), { torn: true }),
      () => this.#remove(file),
      () => this.#bringBack(file),
      () => this.#swap(file, random.pick(NAMES)),
    ])();
  }

  clear(): void {
    for (const file of NAMES) this.#remove(file);
  }

  get #folder(): InMemoryDirectoryWatch {
    this.#watch ??= new InMemoryDirectoryWatch({ clock: this.#clock() });
    this.#watch.makeDirectory(FOLDER);
    return this.#watch;
  }

  #newPod(name: string): Pod {
    const spec = randomSpec(this.#random);
    const containers = spec.containers.map((container, at) =>
      at === 0 ? { ...container, ...GREEDY[NAMES.indexOf(name)] } : container,
    );
    return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { ...spec, containers } };
  }

  #edited(file: string): Pod {
    const pod = this.#files.get(file) ?? this.#newPod(file);
    const labels = { edit: String(this.#random.int({ min: 0, max: 3 })) };
    return { ...pod, metadata: { ...pod.metadata, labels } };
  }

  #write(file: string, pod: Pod, options: { readonly torn?: boolean } = {}): void {
    // Another file may have got this pod by a swap: of two files for one pod the first counts, which is tested elsewhere.
    if ([...this.#files].some(([other, held]) => other !== file && held.metadata?.name === pod.metadata?.name)) return;
    const text = JSON.stringify(pod, undefined, 1);
    const half = text.slice(0, Math.floor(text.length / 2));
    this.#files.set(file, pod);
    this.#folder.write({ path: FOLDER, name: file, content: options.torn ? half : text });
    if (!options.torn) return;
    this.#clock().setTimer(this.#random.int({ min: 1, max: 3000 }), () => {
      if (this.#files.get(file) === pod) this.#folder.write({ path: FOLDER, name: file, content: text });
    });
  }

  #remove(file: string): void {
    const pod = this.#files.get(file);
    if (pod === undefined) return;
    this.#files.delete(file);
    this.#removed.set(file, pod);
    this.#folder.remove({ path: FOLDER, name: file });
  }

  #bringBack(file: string): void {
    const pod = this.#removed.get(file);
    if (pod !== undefined && !this.#files.has(file)) this.#write(file, pod);
  }

  #swap(left: string, right: string): void {
    const [first, second] = [this.#files.get(left), this.#files.get(right)];
    if (first === undefined || second === undefined || left === right) return;
    this.#files.delete(left);
    this.#files.delete(right);
    this.#write(left, second);
    this.#write(right, first);
  }
}
