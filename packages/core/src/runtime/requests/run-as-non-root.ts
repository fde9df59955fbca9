import { formatPod, int64ToBigInt, type Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import type { ImageUser } from "./image-user.ts";
import type { EffectiveSecurity } from "./security-context.ts";

/**
 * Holds a container to runAsNonRoot: throws a config error when it would run as root, or as a named user of the image, which
 * cannot be known to be another than root.
 */
export function verifyRunAsNonRoot(options: {
  readonly pod: Pod;
  readonly containerName: string;
  readonly security: EffectiveSecurity;
  readonly imageUser: ImageUser;
}): void {
  const { security, imageUser: user } = options;
  if (security.runAsNonRoot !== true) return;
  const where = `(pod: "${formatPod(options.pod)}", container: ${options.containerName})`;
  if (security.runAsUser !== undefined) {
    if (int64ToBigInt(security.runAsUser) !== 0n) return;
    throw configError(`container's runAsUser breaks non-root policy ${where}`);
  }
  if (user.uid === 0n) throw configError(`container has runAsNonRoot and image will run as root ${where}`);
  if (user.uid === undefined) {
    throw configError(
      `container has runAsNonRoot and image has non-numeric user (${user.username}), cannot verify user is non-root ${where}`,
    );
  }
}

function configError(message: string): NodeletError {
  return new NodeletError("invalid", message, { reason: "CreateContainerConfigError" });
}
