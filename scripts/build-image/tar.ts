/** Writes reproducible tar archives (POSIX ustar): the bytes depend on the entries only, not on clock, user or folder order. */

export interface TarEntry {
  /** Without a leading slash; folders end with one. */
  path: string;
  /** Permission bits, like 0o755. */
  mode: number;
  /** Contents of a file. A folder has none. */
  contents?: Buffer;
  /** Target of a symbolic link. */
  link?: string;
}

/** 2026-01-01 UTC, seconds. Some readers take 1970 for a damaged header. */
export const FIXED_MTIME = 1_767_225_600;

const BLOCK = 512;
/** Fields of the header: the name without its prefix, a link's target. */
const MAX_NAME_BYTES = 100;
/** 11 octal digits. */
const MAX_FILE_BYTES = 8 ** 11 - 1;

/** The archive of these entries, sorted by path. @throws RangeError for a name that does not fit or occurs twice */
export function tar(entries: readonly TarEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const twice = sorted.find((entry, index) => entry.path === sorted[index + 1]?.path);
  if (twice) throw new RangeError(`twice in the archive: ${twice.path}`);
  const blocks = sorted.flatMap((entry) => {
    const contents = entry.contents ?? Buffer.alloc(0);
    return [header(entry, contents.length), contents, Buffer.alloc(-contents.length & (BLOCK - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function header({ path, mode, contents, link }: TarEntry, size: number): Buffer {
  if (size > MAX_FILE_BYTES) throw new RangeError(`too large for a tar archive: ${path}`);
  const block = Buffer.alloc(BLOCK);
  const text = (at: number, value: string, room: number): void => {
    if (Buffer.byteLength(value) > room) throw new RangeError(`too long for a tar archive: ${value}`);
    block.write(value, at);
  };
  const octal = (at: number, value: number, digits: number): void => text(at, `${value.toString(8).padStart(digits, '0')}\0`, digits + 1);
  text(0, path, MAX_NAME_BYTES);
  octal(100, mode, 7);
  octal(108, 0, 7); // user: root
  octal(116, 0, 7);
  octal(124, size, 11);
  octal(136, FIXED_MTIME, 11);
  text(156, kindOf(path, contents, link), 1);
  text(157, link ?? '', MAX_NAME_BYTES);
  text(257, 'ustar\u000000', 8);
  // The checksum is computed with its own field as spaces.
  text(148, ' '.repeat(8), 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(148, `${sum.toString(8).padStart(6, '0')}\0 `, 8);
  return block;
}

function kindOf(path: string, contents: Buffer | undefined, link: string | undefined): string {
  if (link !== undefined) return '2';
  if (path.endsWith('/')) return '5';
  if (contents === undefined) throw new RangeError(`a file without contents: ${path}`);
  return '0';
}
