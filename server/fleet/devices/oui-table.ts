/** Lengths in hex digits of the blocks that the IEEE assigns, longest first: 36, 28 and 24 bits. */
const LENGTHS = [9, 7, 6] as const;

/** Not manufacturers: blocks that the registry has subdivided, and owners that are not disclosed. */
const NOT_A_MANUFACTURER = new Set(['IEEE Registration Authority', 'Private']);

/** Sorted prefixes of one length, and the name index of each. 36 bits fit exactly into a double. */
interface Block {
  digits: number;
  prefixes: Float64Array<ArrayBuffer>;
  names: Uint32Array<ArrayBuffer>;
}

/** The registry in flat arrays: 53,000 prefixes take 1.5 MB, instead of 27 MB as an object. */
export interface OuiData {
  blocks: Block[];
  /** All names concatenated in UTF-8; name `i` lies from offset `i` to offset `i + 1`. */
  text: Uint8Array<ArrayBuffer>;
  offsets: Uint32Array<ArrayBuffer>;
}

/** @param registry prefix of 6, 7 or 9 hex digits -> lines of text, the first of which is the name */
export function packRegistry(registry: Record<string, string>): OuiData {
  const entries = Object.entries(registry);
  const names = new Map<string, number>();
  const blocks = LENGTHS.map((digits) =>
    buildBlock(
      digits,
      entries.filter(([prefix]) => prefix.length === digits),
      names,
    ),
  );
  const texts = [...names.keys()].map((name) => Buffer.from(name, 'utf8'));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) offsets[index + 1] = offsets[index]! + text.length;
  return { blocks, text: new Uint8Array(Buffer.concat(texts)), offsets };
}

/** @param mac `AA:BB:CC:DD:EE:FF` @returns null when it is not registered */
export function findManufacturer(data: OuiData, mac: string): string | null {
  const hex = mac.replaceAll(':', '');
  for (const { digits, prefixes, names } of data.blocks) {
    const index = indexOf(prefixes, Number.parseInt(hex.slice(0, digits), 16));
    if (index >= 0) return readName(data, names[index]!);
  }
  return null;
}

function readName({ text, offsets }: OuiData, index: number): string | null {
  const name = Buffer.from(text.buffer, offsets[index], offsets[index + 1]! - offsets[index]!).toString('utf8');
  return NOT_A_MANUFACTURER.has(name) ? null : name;
}

function buildBlock(digits: number, entries: [string, string][], names: Map<string, number>): Block {
  const sorted = entries
    .map(([prefix, text]) => ({ prefix: Number.parseInt(prefix, 16), name: text.split('\n', 1)[0]!.trim() }))
    .sort((a, b) => a.prefix - b.prefix);
  const indexOfName = (name: string): number => {
    const known = names.get(name);
    if (known !== undefined) return known;
    names.set(name, names.size);
    return names.size - 1;
  };
  return {
    digits,
    prefixes: Float64Array.from(sorted, ({ prefix }) => prefix),
    names: Uint32Array.from(sorted, ({ name }) => indexOfName(name)),
  };
}

/** Index of a value in a sorted array, or -1. */
function indexOf(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = sorted[middle]!;
    if (found === value) return middle;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
