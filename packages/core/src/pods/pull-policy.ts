import { NodeletError } from "../errors/index.ts";
import { defaultPullPolicy } from "../images/reference.ts";

/** The pull policy of an image whose pod names none. A text that is no reference gets IfNotPresent, as upstream has it: pulling will tell. */
export function pullPolicyFor(image: string | undefined): "Always" | "IfNotPresent" {
  try {
    return defaultPullPolicy(image ?? "");
  } catch (error) {
    if (NodeletError.is(error)) return "IfNotPresent";
    throw error;
  }
}
