/** Formats of names and values. Each check answers what is wrong in upstream's words, nothing when all is well. */

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED_PART})?`;
const SYSCTL_PART = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SYSCTL = `^(${SYSCTL_PART}[\\./])*${SYSCTL_PART}$`;

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

const LABEL_TEXT = whole(LABEL);
const SUBDOMAIN_TEXT = whole(SUBDOMAIN);
const QUALIFIED_TEXT = whole(QUALIFIED_PART);
const LABEL_VALUE_TEXT = whole(LABEL_VALUE);
const SYSCTL_TEXT = new RegExp(SYSCTL);
/** No "_", which systemd's cgroup names need for themselves. */
const UID_TEXT = /^[A-Za-z0-9][-A-Za-z0-9.]*$/;
const MAX_UID = 128;

/** Bytes of the UTF-8 form: what Go counts with len(). */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function tooLong(text: string, max: number): string[] {
  return byteLength(text) > max ? [`must be no more than ${max} bytes`] : [];
}

/** A name that a host in the DNS can have: containers, volumes, hostnames. */
export function dnsLabel(text: string): string[] {
  if (byteLength(text) > 63) return tooLong(text, 63);
  return LABEL_TEXT.test(text)
    ? []
    : [
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character" +
          ` (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`,
      ];
}

/** Names of pods, nodes, config maps, secrets, service accounts, runtime classes. */
export function dnsSubdomain(text: string): string[] {
  if (byteLength(text) > 253) return tooLong(text, 253);
  return SUBDOMAIN_TEXT.test(text)
    ? []
    : [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
          ` (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`,
      ];
}

/** A pod's UID: it names a directory, a cgroup and labels in the runtime, so it must be usable as a part of each. */
export function podUid(text: string): string[] {
  if (text.length > MAX_UID) return [`must be no more than ${MAX_UID} characters`];
  return UID_TEXT.test(text)
    ? []
    : [
        "must consist of alphanumeric characters, '-' or '.', and must start with an alphanumeric character," +
          " since directories and cgroups are named by it; leave it out to have one computed",
      ];
}

/** Search domains of a resolver: underscores are allowed. */
export function dnsSearchDomain(text: string): string[] {
  const label = "[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?";
  if (byteLength(text) > 253) return tooLong(text, 253);
  return whole(`${label}(\\.${label})*`).test(text)
    ? []
    : [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
          ` (e.g. 'example.com', regex used for validation is '${label}(\\.${label})*')`,
      ];
}

/** `[prefix/]name`: label and annotation keys, condition types, resource names. */
export function qualifiedName(text: string): string[] {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  const problems: string[] = [];
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED_PART}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (parts.length === 2) {
    const [prefix = ""] = parts;
    if (prefix === "") problems.push("prefix part must be non-empty");
    else problems.push(...dnsSubdomain(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else problems.push(...tooLong(name, 63).map((problem) => `name part ${problem}`));
  if (!QUALIFIED_TEXT.test(name)) {
    problems.push(
      `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED_PART}')`,
    );
  }
  return problems;
}

/** Values of labels and selectors. */
export function labelValue(text: string): string[] {
  return [
    ...tooLong(text, 63),
    ...(LABEL_VALUE_TEXT.test(text)
      ? []
      : [
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
            ` (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`,
        ]),
  ];
}

/** Names of environment variables (KEP-4369): printable ASCII but `=`. */
export function environmentName(text: string): string[] {
  if (text === "") return ["environment variable name must be non-empty"];
  return /^[ -<>-~]+$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Keys of config maps and secrets. */
export function configKey(text: string): string[] {
  if (text === ".") return ["must not be '.'"];
  if (text === "..") return ["must not be '..'"];
  if (text.startsWith("..")) return ["must not start with '..'"];
  const pattern = "[-._a-zA-Z0-9]+";
  return [
    ...tooLong(text, 253),
    ...(whole(pattern).test(text)
      ? []
      : [
          `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${pattern}')`,
        ]),
  ];
}

/** Names of ports (IANA service names). */
export function portName(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 15) problems.push("must be no more than 15 bytes");
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(text)) problems.push("must contain at least one letter (a-z)");
  if (text.includes("--")) problems.push("must not contain consecutive hyphens");
  if (text.startsWith("-") || text.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** Numbers of ports. */
export function portNumber(port: number): string[] {
  return port >= 1 && port <= 65_535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** Names of HTTP header fields. */
export function headerName(text: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(text)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];
}

/** Names of sysctls, with dots or slashes. */
export function sysctlName(text: string): string[] {
  return byteLength(text) <= 253 && SYSCTL_TEXT.test(text)
    ? []
    : [`must have at most 253 characters and match regex ${SYSCTL}`];
}

/** A path inside a volume. */
export function descendingPath(text: string): string[] {
  const problems: string[] = [];
  if (text.startsWith("/")) problems.push("must be a relative path");
  if (text.split("/").includes("..")) problems.push("must not contain '..'");
  return problems;
}

/** An IPv4 or IPv6 address. */
export function ipAddress(text: string): string[] {
  return isIpv4(text) || isIpv6(text) ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const embedded = last.includes(".");
  if (embedded && !isIpv4(last)) return false;
  const hex = embedded ? groups.slice(0, -1) : groups;
  const size = hex.length + (embedded ? 2 : 0);
  return hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? size < 8 : size === 8);
}
