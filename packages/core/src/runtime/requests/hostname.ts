import type { Pod } from "../../api/index.ts";
import { NodeletError } from "../../errors/index.ts";
import { goQuote } from "../../text/go-quote.ts";

const MAX_HOSTNAME = 63;
const MAX_FQDN = 64;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric " +
  "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** A pod's host name and, with a subdomain, the domain that it lies in. */
export interface PodHostname {
  readonly hostname: string;
  /** Empty without a subdomain. */
  readonly domain: string;
}

/**
 * Host name of a pod: hostnameOverride, else spec.hostname, else the pod's name, cut to 63 characters; domain `<subdomain>.<ns>.svc.<cluster
 * domain>`. Throws `invalid` for names that are no DNS labels.
 */
export function podHostname(options: { readonly pod: Pod; readonly clusterDomain: string }): PodHostname {
  const { pod, clusterDomain } = options;
  const { hostnameOverride, hostname = "", subdomain = "" } = pod.spec ?? {};
  const podName = pod.metadata?.name ?? "";
  if (hostnameOverride !== undefined && hostnameOverride !== "") {
    return { hostname: truncated({ podName, hostname: hostnameOverride }), domain: "" };
  }
  if (hostname !== "") assertLabel({ what: "Hostname", value: hostname });
  if (subdomain !== "") assertLabel({ what: "Subdomain", value: subdomain });
  return {
    hostname: truncated({ podName, hostname: hostname === "" ? podName : hostname }),
    domain: subdomain === "" ? "" : `${subdomain}.${pod.metadata?.namespace ?? ""}.svc.${clusterDomain}`,
  };
}

/** The name that the kernel is given: the full one when the pod asks for it. Throws `invalid` when that has more than 64 characters. */
export function kernelHostname(options: { readonly pod: Pod; readonly clusterDomain: string }): string {
  const { hostname, domain } = podHostname(options);
  if (domain === "" || options.pod.spec?.setHostnameAsFQDN !== true) return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length > MAX_FQDN) {
    throw new NodeletError(
      "invalid",
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_FQDN} characters is the max, ${fqdn.length} characters requested)`,
    );
  }
  return fqdn;
}

function truncated(options: { readonly podName: string; readonly hostname: string }): string {
  const { podName, hostname } = options;
  if (hostname.length <= MAX_HOSTNAME) return hostname;
  const cut = hostname.slice(0, MAX_HOSTNAME).replace(/[-.]+$/, "");
  if (cut !== "") return cut;
  throw new NodeletError("invalid", `hostname for pod ${goQuote(podName)} was invalid: ${goQuote(hostname)}`);
}

function assertLabel(options: { readonly what: "Hostname" | "Subdomain"; readonly value: string }): void {
  const { what, value } = options;
  const faults = [
    ...(value.length > MAX_HOSTNAME ? [`must be no more than ${MAX_HOSTNAME} bytes`] : []),
    ...(LABEL.test(value) ? [] : [LABEL_RULE]),
  ];
  if (faults.length > 0) {
    throw new NodeletError("invalid", `pod ${what} ${goQuote(value)} is not a valid DNS label: ${faults.join(";")}`);
  }
}
