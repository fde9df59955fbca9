import { DevNodeError } from "../errors.ts";

/** One entry of an archive. Paths are relative, without a leading "./"; folders end in "/". */
export interface TarEntry {
  path: string;
  /** Permission bits, for example 0o755. */
  mode: number;
  /** Content of a regular file; left out for folders and links. */
  data?: Uint8Array;
  /** Target of a symbolic link. */
  linkTarget?: string;
  uid?: number;
  gid?: number;
}

const blockBytes = 512;

/**
 * A POSIX ustar archive (IEEE 1003.1, pax "ustar interchange format"), byte for byte the same for the same entries:
 * times are zero, owners are numbers only. Entries keep the given order; folders must come before what they hold.
 */
export function createTar(entries: readonly TarEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const data = entry.data ?? new Uint8Array();
    parts.push(createHeader(entry, data.length), data, new Uint8Array(-data.length & (blockBytes - 1)));
  }
  parts.push(new Uint8Array(2 * blockBytes));
  return Buffer.concat(parts);
}

function createHeader(entry: TarEntry, sizeBytes: number): Uint8Array {
  const header = Buffer.alloc(blockBytes);
  const { prefix, name } = splitPath(entry.path);
  const linkTarget = entry.linkTarget ?? "";
  if (Buffer.byteLength(linkTarget) > 100) {
    throw new DevNodeError("command", `link target ${linkTarget} is longer than the 100 bytes that ustar holds`);
  }
  const type = entry.linkTarget !== undefined ? "2" : entry.path.endsWith("/") ? "5" : "0";
  header.write(name, 0);
  header.write(octal(entry.mode, 7), 100);
  header.write(octal(entry.uid ?? 0, 7), 108);
  header.write(octal(entry.gid ?? 0, 7), 116);
  header.write(octal(sizeBytes, 11), 124);
  header.write(octal(0, 11), 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(linkTarget, 157);
  header.write("ustar\0" + "00", 257);
  header.write(octal(0, 7), 329);
  header.write(octal(0, 7), 337);
  header.write(prefix, 345);
  // The checksum is the plain sum of the header's bytes with its own field read as spaces.
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** ustar splits a long path at a slash into a prefix of up to 155 bytes and a name of up to 100. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) {
    return { prefix: "", name: path };
  }
  for (let slash = path.indexOf("/"); slash > 0 && slash < path.length - 1; slash = path.indexOf("/", slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) {
      return { prefix, name };
    }
  }
  throw new DevNodeError("command", `path ${path} is too long for a ustar archive`);
}
