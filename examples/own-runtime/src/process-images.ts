import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type CallOptions,
  type Image,
  type ImageService,
  type ImageSpec,
  NodeletError,
  throwIfAborted,
} from "@nodelet/core";

/** Name, tag. The full grammar is the distribution project's; this much tells a slip of the pen from a reference. */
const REFERENCE = /^[a-z0-9][a-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?$/;

/** Images that are nothing but one program of this machine: the digest of its file is the image's id. */
export class ProcessImages implements ImageService {
  readonly #programs: ReadonlyMap<string, string>;

  /** @param programs absolute path of the program, by reference: `{ "localhost/sh:1": "/bin/sh" }` */
  constructor(programs: Readonly<Record<string, string>>) {
    this.#programs = new Map(Object.entries(programs));
  }

  async imageStatus(request: { readonly image: ImageSpec } & CallOptions): Promise<Image | undefined> {
    throwIfAborted(request.signal, "looking at an image");
    return (await this.find(request.image.image))?.image;
  }

  /** There is no registry: what is not here cannot be had. */
  async pullImage(request: { readonly image: ImageSpec } & CallOptions): Promise<string> {
    throwIfAborted(request.signal, "pulling an image");
    const { image } = request.image;
    if (!REFERENCE.test(image)) throw new NodeletError("invalid", `"${image}" is no image reference`);
    const found = await this.find(image);
    if (found === undefined) throw new NodeletError("notFound", `no program of this machine is called ${image}`);
    return found.image.id;
  }

  /** The image that a reference or an id names, and its program. */
  async find(name: string): Promise<{ readonly image: Image; readonly program: string } | undefined> {
    for (const [reference, program] of this.#programs) {
      if (reference !== name && !name.startsWith("sha256:")) continue;
      const bytes = await readFile(program).catch(() => undefined);
      if (bytes === undefined) continue;
      const id = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      if (reference !== name && id !== name) continue;
      const image = { id, repoTags: [reference], repoDigests: [], sizeBytes: BigInt(bytes.length), pinned: true };
      return { image, program };
    }
    return undefined;
  }
}
