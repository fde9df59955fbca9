import type { Volume, VolumeProjection } from "../api/index.ts";
import { pullPolicyFor } from "./pull-policy.ts";

const FILE_MODE = 0o644;

/** Fills in the defaults of one volume. A volume without any source is an emptyDir. */
export function defaultVolume(volume: Volume): void {
  const sources = Object.entries(volume).filter(([key, source]) => key !== "name" && source !== undefined);
  if (sources.length === 0) volume.emptyDir = {};
  if (volume.hostPath !== undefined) volume.hostPath.type ??= "";
  if (volume.image !== undefined) {
    volume.image.pullPolicy ||= pullPolicyFor(volume.image.reference);
  }
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) {
    if (source !== undefined) source.defaultMode ??= FILE_MODE;
  }
  for (const item of volume.downwardAPI?.items ?? []) defaultFieldItem(item);
  for (const projection of volume.projected?.sources ?? []) defaultProjection(projection);
  if (volume.ephemeral?.volumeClaimTemplate !== undefined)
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= "Filesystem";
  defaultNetworkDisks(volume);
}

function defaultProjection(projection: VolumeProjection): void {
  if (projection.serviceAccountToken !== undefined) projection.serviceAccountToken.expirationSeconds ??= 3600;
  for (const item of projection.downwardAPI?.items ?? []) defaultFieldItem(item);
}

function defaultFieldItem(item: { fieldRef?: { apiVersion?: string }; resourceFieldRef?: { divisor?: string } }): void {
  if (item.fieldRef !== undefined) item.fieldRef.apiVersion ||= "v1";
  if (item.resourceFieldRef !== undefined) item.resourceFieldRef.divisor ||= "0";
}

function defaultNetworkDisks({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ||= "default";
  if (rbd !== undefined) {
    rbd.pool ||= "rbd";
    rbd.user ||= "admin";
    rbd.keyring ||= "/etc/ceph/keyring";
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ||= "ReadWrite";
    azureDisk.kind ||= "Shared";
    azureDisk.fsType ||= "ext4";
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= "ThinProvisioned";
    scaleIO.fsType ||= "xfs";
  }
}
