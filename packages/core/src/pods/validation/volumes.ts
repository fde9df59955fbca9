import { Amount, type KeyToPath, type Volume, type VolumeProjection } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { type Place, VOLUME_FIELD_PATHS, validateFieldRef, validateResourceFieldRef } from "./env.ts";
import { descendingPath, dnsLabel, dnsSubdomain } from "./formats.ts";

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const MAX_MODE = 0o777;
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Volumes have names of their own and one source each. What a source must hold is checked for those that a node reads by itself. */
export function validateVolumes(volumes: readonly Volume[], problems: Place["problems"]): void {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const path = `spec.volumes[${index}]`;
    if (!volume.name) problems.required({ path: `${path}.name` });
    else {
      problems.invalidAll({ path: `${path}.name`, value: volume.name, details: dnsLabel(volume.name) });
      if (names.has(volume.name)) problems.duplicate({ path: `${path}.name`, value: volume.name });
      names.add(volume.name);
    }
    const [first, ...others] = Object.keys(volume).filter(
      (key) => key !== "name" && volume[key as keyof Volume] !== undefined,
    );
    if (first === undefined) problems.required({ path, detail: "must specify a volume type" });
    for (const other of others)
      problems.forbidden({ path: `${path}.${other}`, detail: "may not specify more than 1 volume type" });
    validateSource(volume, { path, problems });
  }
}

function validateSource(volume: Volume, { path, problems }: Place): void {
  if (volume.hostPath !== undefined) validateHostPath(volume.hostPath, { path: `${path}.hostPath`, problems });
  if (volume.emptyDir?.sizeLimit !== undefined) {
    validateSize(volume.emptyDir.sizeLimit, { path: `${path}.emptyDir.sizeLimit`, problems });
  }
  if (volume.image !== undefined && !volume.image.reference) problems.required({ path: `${path}.image.reference` });
  if (volume.configMap !== undefined) {
    validateReference(volume.configMap.name, { path: `${path}.configMap.name`, problems });
    validateItems(volume.configMap, { path: `${path}.configMap`, problems });
  }
  if (volume.secret !== undefined) {
    validateReference(volume.secret.secretName, { path: `${path}.secret.secretName`, problems });
    validateItems(volume.secret, { path: `${path}.secret`, problems });
  }
  if (volume.downwardAPI !== undefined) validateDownward(volume.downwardAPI, { path: `${path}.downwardAPI`, problems });
  if (volume.persistentVolumeClaim !== undefined && !volume.persistentVolumeClaim.claimName) {
    problems.required({ path: `${path}.persistentVolumeClaim.claimName` });
  }
  if (volume.csi !== undefined && !volume.csi.driver) problems.required({ path: `${path}.csi.driver` });
  if (volume.projected !== undefined) {
    validateMode(volume.projected.defaultMode, { path: `${path}.projected.defaultMode`, problems });
    for (const [index, projection] of (volume.projected.sources ?? []).entries()) {
      validateProjection(projection, { path: `${path}.projected.sources[${index}]`, problems });
    }
  }
}

function validateHostPath(source: { readonly path: string; readonly type?: string }, { path, problems }: Place): void {
  if (!source.path) problems.required({ path: `${path}.path` });
  else if (source.path.split("/").includes("..")) {
    problems.invalid({ path: `${path}.path`, value: source.path, detail: "must not contain '..'" });
  }
  if (source.type !== undefined && !HOST_PATH_TYPES.includes(source.type)) {
    problems.unsupported({ path: `${path}.type`, value: source.type, supported: HOST_PATH_TYPES });
  }
}

function validateSize(size: string, { path, problems }: Place): void {
  try {
    if (Amount.parse(size).sign < 0) {
      problems.forbidden({ path, detail: "SizeLimit field must be a valid resource quantity" });
    }
  } catch (error) {
    if (!NodeletError.is(error)) throw error;
    problems.invalid({ path, value: size, detail: "must be a quantity, for example 64Mi" });
  }
}

function validateReference(name: string | undefined, { path, problems }: Place): void {
  if (!name) problems.required({ path });
  else problems.invalidAll({ path, value: name, details: dnsSubdomain(name) });
}

function validateItems(
  source: { readonly items?: readonly KeyToPath[]; readonly defaultMode?: number },
  { path, problems }: Place,
): void {
  validateMode(source.defaultMode, { path: `${path}.defaultMode`, problems });
  for (const [index, item] of (source.items ?? []).entries()) {
    const own = `${path}.items[${index}]`;
    if (!item.key) problems.required({ path: `${own}.key` });
    validateFilePath(item.path, { path: `${own}.path`, problems });
    validateMode(item.mode, { path: `${own}.mode`, problems });
  }
}

/** A file in the volume: a relative path that does not climb, nor begin with the `..` of the atomic writer's own entries. */
function validateFilePath(file: string, { path, problems }: Place): void {
  if (!file) {
    problems.required({ path });
    return;
  }
  problems.invalidAll({ path, value: file, details: descendingPath(file) });
  if (file.startsWith("..") && !file.startsWith("../"))
    problems.invalid({ path, value: file, detail: "must not start with '..'" });
}

function validateMode(mode: number | undefined, { path, problems }: Place): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_MODE)) {
    problems.invalid({ path, value: mode, detail: "must be a number between 0 and 0777 (octal), both inclusive" });
  }
}

function validateDownward(source: NonNullable<Volume["downwardAPI"]>, { path, problems }: Place): void {
  validateMode(source.defaultMode, { path: `${path}.defaultMode`, problems });
  for (const [index, item] of (source.items ?? []).entries()) {
    const own = `${path}.items[${index}]`;
    validateFilePath(item.path, { path: `${own}.path`, problems });
    validateMode(item.mode, { path: `${own}.mode`, problems });
    if (item.fieldRef !== undefined && item.resourceFieldRef !== undefined) {
      problems.invalid({
        path: own,
        value: "resource",
        detail: "fieldRef and resourceFieldRef can not be specified simultaneously",
      });
    } else if (item.fieldRef !== undefined) {
      validateFieldRef(item.fieldRef, { path: `${own}.fieldRef`, problems, allowed: VOLUME_FIELD_PATHS });
    } else if (item.resourceFieldRef !== undefined) {
      validateResourceFieldRef(item.resourceFieldRef, {
        path: `${own}.resourceFieldRef`,
        problems,
        needsContainer: true,
      });
    } else {
      problems.required({ path: `${own}.fieldRef`, detail: "one of fieldRef and resourceFieldRef is required" });
    }
  }
}

function validateProjection(projection: VolumeProjection, { path, problems }: Place): void {
  const sources = Object.values(projection).filter((source) => source !== undefined).length;
  if (sources > 1) problems.forbidden({ path, detail: "may not specify more than 1 volume type per source" });
  if (sources === 0) problems.required({ path, detail: "must specify a volume source" });
  for (const name of ["configMap", "secret"] as const) {
    const source = projection[name];
    if (source === undefined) continue;
    validateReference(source.name, { path: `${path}.${name}.name`, problems });
    validateItems(source, { path: `${path}.${name}`, problems });
  }
  if (projection.downwardAPI !== undefined)
    validateDownward(projection.downwardAPI, { path: `${path}.downwardAPI`, problems });
  const token = projection.serviceAccountToken;
  if (token === undefined) return;
  const seconds = Number(token.expirationSeconds ?? 0);
  const own = `${path}.serviceAccountToken`;
  if (seconds < MIN_TOKEN_SECONDS) {
    problems.invalid({
      path: `${own}.expirationSeconds`,
      value: seconds,
      detail: "may not specify a duration less than 10 minutes",
    });
  }
  if (seconds > MAX_TOKEN_SECONDS) {
    problems.invalid({
      path: `${own}.expirationSeconds`,
      value: seconds,
      detail: "may not specify a duration larger than 2^32 seconds",
    });
  }
  validateFilePath(token.path, { path: `${own}.path`, problems });
}
