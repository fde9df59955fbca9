import type { Image } from "../../ports/image-service.ts";

/** The user that an image's process runs as when the pod says nothing: a uid, or a name that only the image can resolve. */
export type ImageUser =
  | { readonly uid: bigint; readonly username?: undefined }
  | { readonly uid?: undefined; readonly username: string };

/** The user of an image; an image that names none runs as root. */
export function imageUser(image: Pick<Image, "uid" | "username">): ImageUser {
  if (image.uid !== undefined) return { uid: image.uid };
  return image.username === undefined || image.username === "" ? { uid: 0n } : { username: image.username };
}
