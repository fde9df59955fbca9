import type { Container, EphemeralContainer, Pod } from "@nodelet/core";
import type { SeededRandom } from "../random/seeded-random.ts";

export const IMAGE = "localhost/busybox:1.35";
/** Pulled at once. */
export const PULLED = "localhost/pulled:1";
/** Pulled in minutes. */
export const SLOW = "localhost/slow:1";
/** Never there. */
export const ABSENT = "localhost/absent:1";

type Spec = NonNullable<Pod["spec"]>;

const COMMANDS: readonly (readonly string[])[] = [
  ["server"],
  ["server"],
  ["sleep", "infinity"],
  ["sleep", "90"],
  ["sh", "-c", "exit 0"],
  ["sh", "-c", "exit 3"],
  ["/no/such"],
];
const INIT_COMMANDS: readonly (readonly string[])[] = [["true"], ["true"], ["sleep", "5"], ["sh", "-c", "exit 1"]];

/** A pod of one to three containers, some with init containers and sidecars before them. */
export function randomSpec(random: SeededRandom): Spec {
  const names = ["a", "b", "c"].slice(0, random.int({ min: 1, max: 3 }));
  const initContainers = random.chance(0.3) ? randomInit(random) : [];
  return {
    restartPolicy: random.pick(["Always", "Always", "OnFailure", "Never"]),
    terminationGracePeriodSeconds: random.int({ min: 1, max: 10 }),
    hostNetwork: random.chance(0.2),
    ...(initContainers.length > 0 && { initContainers }),
    containers: names.map((name) => randomContainer(random, name)),
  };
}

export function randomContainer(random: SeededRandom, name: string): Container {
  return {
    name,
    image: random.pick([IMAGE, IMAGE, IMAGE, PULLED, SLOW, ABSENT]),
    command: [...random.pick(COMMANDS)],
    ...(random.chance(0.2) && { imagePullPolicy: "Always" }),
  };
}

/** A container for debugging, under a name that the pod does not have. */
export function randomEphemeral(random: SeededRandom, name: string): EphemeralContainer {
  return { name, image: random.pick([IMAGE, PULLED]), command: [...random.pick(COMMANDS)] };
}

/** Containers of the pod that must run in the end, unless the pod is over or being deleted. */
export function lastingContainers(pod: Pod): readonly Container[] {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const initialises = initContainers.every(
    ({ image, command, restartPolicy }) =>
      image !== ABSENT && (restartPolicy === "Always" || !(command ?? []).join(" ").includes("exit 1")),
  );
  return initialises ? containers.filter(lasts) : [];
}

function randomInit(random: SeededRandom): Container[] {
  return ["i", "j"].slice(0, random.int({ min: 1, max: 2 })).map((name): Container => {
    const image = random.pick([IMAGE, IMAGE, PULLED, SLOW]);
    return random.chance(0.4)
      ? { name, image, command: ["server"], restartPolicy: "Always" }
      : { name, image, command: [...random.pick(INIT_COMMANDS)] };
  });
}

function lasts({ image, command = [] }: Container): boolean {
  return image !== ABSENT && (command[0] === "server" || command[1] === "infinity");
}
