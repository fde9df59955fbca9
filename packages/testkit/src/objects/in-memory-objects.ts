import {
  type CallOptions,
  type KeyedObject,
  NodeletError,
  type ObjectSource,
  type RuntimeClassSummary,
  type ServiceSummary,
  throwIfAborted,
} from "@nodelet/core";

/** What an InMemoryObjects holds at first. */
export interface InMemoryObjectsOptions {
  readonly configMaps?: readonly KeyedObject[];
  readonly secrets?: readonly KeyedObject[];
  readonly services?: readonly ServiceSummary[];
  readonly runtimeClasses?: readonly RuntimeClassSummary[];
}

/** Objects that pods refer to, in memory. `available = false` makes every call `unavailable`. */
export class InMemoryObjects implements ObjectSource {
  readonly #configMaps = new Map<string, KeyedObject>();
  readonly #secrets = new Map<string, KeyedObject>();
  readonly #services = new Map<string, ServiceSummary>();
  readonly #runtimeClasses = new Map<string, RuntimeClassSummary>();
  available = true;

  constructor(options: InMemoryObjectsOptions = {}) {
    for (const object of options.configMaps ?? []) this.putConfigMap(object);
    for (const object of options.secrets ?? []) this.putSecret(object);
    for (const object of options.services ?? []) this.putService(object);
    for (const object of options.runtimeClasses ?? []) this.#runtimeClasses.set(object.name, object);
  }

  putConfigMap(object: KeyedObject): void {
    this.#configMaps.set(keyOf(object), object);
  }

  putSecret(object: KeyedObject): void {
    this.#secrets.set(keyOf(object), object);
  }

  putService(object: ServiceSummary): void {
    this.#services.set(keyOf(object), object);
  }

  /** Removes a config map, secret or service of that name. */
  remove(object: {
    readonly kind: "configMap" | "secret" | "service";
    readonly namespace: string;
    readonly name: string;
  }): void {
    const maps = { configMap: this.#configMaps, secret: this.#secrets, service: this.#services };
    maps[object.kind].delete(keyOf(object));
  }

  async configMap(
    request: { readonly namespace: string; readonly name: string } & CallOptions,
  ): Promise<KeyedObject | undefined> {
    this.#answerable(request);
    return this.#configMaps.get(keyOf(request));
  }

  async secret(
    request: { readonly namespace: string; readonly name: string } & CallOptions,
  ): Promise<KeyedObject | undefined> {
    this.#answerable(request);
    return this.#secrets.get(keyOf(request));
  }

  async services(options: CallOptions = {}): Promise<readonly ServiceSummary[]> {
    this.#answerable(options);
    return [...this.#services.values()];
  }

  async runtimeClass(request: { readonly name: string } & CallOptions): Promise<RuntimeClassSummary | undefined> {
    this.#answerable(request);
    return this.#runtimeClasses.get(request.name);
  }

  #answerable(options: CallOptions): void {
    throwIfAborted(options.signal, "reading an object");
    if (!this.available) throw new NodeletError("unavailable", "the objects cannot be read at the moment");
  }
}

function keyOf(object: { readonly namespace: string; readonly name: string }): string {
  return `${object.namespace}/${object.name}`;
}
