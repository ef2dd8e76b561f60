/** The facts of a program or library (64-bit little-endian ELF) that the builder needs, read from the file. */

export interface Elf {
  architecture: Architecture | undefined;
  /** The loader that starts the program. */
  interpreter: string | undefined;
  /** Libraries it needs to start. */
  needed: string[];
}

export type Architecture = 'amd64' | 'arm64';

/** e_machine, elf(5). */
const MACHINES: Readonly<Record<number, Architecture>> = { 62: 'amd64', 183: 'arm64' };

const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3];
const [DT_NEEDED, DT_STRTAB] = [1n, 5n];
/** Offsets in the header: program headers' offset, section headers' offset, and the counts of both. */
const [E_PHOFF, E_SHOFF, E_PHENTSIZE, E_PHNUM, E_SHNUM, E_SHSTRNDX] = [32, 40, 54, 56, 60, 62];

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

/** @throws RangeError for any other file */
export function readElf(file: Buffer): Elf {
  const segments = readSegments(file);
  const interpreter = segments.find(({ type }) => type === PT_INTERP);
  return {
    architecture: MACHINES[file.readUInt16LE(18)],
    interpreter: interpreter && textAt(file, interpreter.offset),
    needed: readNeeded(file, segments),
  };
}

/**
 * Removes section headers, symbols and debugger notes: a sixth of Node. They follow the last byte that is loaded, so the
 * file is cut there. Works for any architecture.
 */
export function stripElf(file: Buffer): Buffer {
  const headers = Number(file.readBigUInt64LE(E_PHOFF)) + file.readUInt16LE(E_PHENTSIZE) * file.readUInt16LE(E_PHNUM);
  const end = Math.max(headers, ...readSegments(file).map(({ offset, size }) => offset + size));
  const stripped = Buffer.from(file.subarray(0, end));
  stripped.writeBigUInt64LE(0n, E_SHOFF);
  stripped.writeUInt16LE(0, E_SHNUM);
  stripped.writeUInt16LE(0, E_SHSTRNDX);
  return stripped;
}

function readSegments(file: Buffer): Segment[] {
  if (file.length < 64 || file.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001')
    throw new RangeError('not a 64-bit little-endian ELF file');
  const start = Number(file.readBigUInt64LE(E_PHOFF));
  return Array.from({ length: file.readUInt16LE(E_PHNUM) }, (_, index) => {
    const at = start + index * file.readUInt16LE(E_PHENTSIZE);
    const [offset, address, size] = [8, 16, 32].map((field) => Number(file.readBigUInt64LE(at + field)));
    return { type: file.readUInt32LE(at), offset: offset!, address: address!, size: size! };
  });
}

function readNeeded(file: Buffer, segments: readonly Segment[]): string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (!dynamic) return [];
  const entries = Array.from({ length: dynamic.size / 16 }, (_, index) => {
    const at = dynamic.offset + index * 16;
    return { tag: file.readBigUInt64LE(at), value: Number(file.readBigUInt64LE(at + 8)) };
  });
  const table = entries.find(({ tag }) => tag === DT_STRTAB);
  if (!table) return [];
  const loaded = segments.find(({ type, address, size }) => type === PT_LOAD && address <= table.value && table.value < address + size);
  if (!loaded) throw new RangeError('the names of the libraries are nowhere in the file');
  const names = table.value - loaded.address + loaded.offset;
  return entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => textAt(file, names + value));
}

function textAt(file: Buffer, offset: number): string {
  return file.toString('latin1', offset, file.indexOf(0, offset));
}
