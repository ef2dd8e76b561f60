import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Limits of RFC 8270 and ssh2: at most 8192 bits, which take 150 ms. */
const LARGEST_PRIME_BYTES = 1024;
const SMALLEST_PRIME_BYTES = 256;
const LARGEST_GENERATOR_BYTES = 4;

/** DER tags. */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const SEQUENCE = 0x30;

/** Node's type declarations lack `dh` here. */
const generateDhPair = generateKeyPairSync as unknown as (
  type: 'dh',
  group: { prime: Buffer; generator: number },
) => { publicKey: KeyObject; privateKey: KeyObject };

/** What ssh2's key exchange uses of Node's `DiffieHellman`. */
export interface GroupKeys {
  readonly publicKey: Buffer;
  computeSecret(otherPublicKey: Buffer): Buffer;
  getPrime(): Buffer;
  getGenerator(): Buffer;
}

/**
 * Keys in a group that the router chose. `createDiffieHellman` first checks synchronously that the prime is one, which blocks the
 * process for 1.5 s with 3072 bits and 30 s with 8192. The check adds no security: the router's host key signs the exchange, and a
 * malicious router can expose its own session without a bad prime.
 * @throws Error for an invalid group, or one that is too small or too large
 */
export function createGroupKeys(prime: Buffer, generator: Buffer): GroupKeys {
  const p = withoutLeadingZeros(prime);
  const g = withoutLeadingZeros(generator);
  if (p.length < SMALLEST_PRIME_BYTES || p.length > LARGEST_PRIME_BYTES)
    throw new Error(`the router offers a group of ${p.length * 8} bits`);
  if (g.length === 0 || g.length > LARGEST_GENERATOR_BYTES) throw new Error(`the router offers a generator of ${g.length} bytes`);
  const own = generateDhPair('dh', { prime: p, generator: g.readUIntBE(0, g.length) });
  const [algorithm, publicKey] = partsOf(own.publicKey);
  return {
    publicKey,
    // As long as the prime, as with `DiffieHellman`; ssh2 converts it to a number.
    computeSecret: (other) => diffieHellman({ privateKey: own.privateKey, publicKey: toKey(algorithm, other) }),
    getPrime: () => p,
    getGenerator: () => g,
  };
}

function withoutLeadingZeros(number: Buffer): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  return first < 0 ? Buffer.alloc(0) : number.subarray(first);
}

/** SubjectPublicKeyInfo of RFC 5280: SEQUENCE { algorithm, BIT STRING { INTEGER y } }. */
function partsOf(key: KeyObject): [algorithm: Buffer, y: Buffer] {
  const info = contentOf(key.export({ type: 'spki', format: 'der' }));
  const algorithm = info.subarray(0, sizeOf(info));
  const bits = contentOf(info.subarray(algorithm.length));
  return [algorithm, withoutLeadingZeros(contentOf(bits.subarray(1)))];
}

function toKey(algorithm: Buffer, y: Buffer): KeyObject {
  const bits = encode(BIT_STRING, Buffer.concat([Buffer.of(0), encode(INTEGER, positive(withoutLeadingZeros(y)))]));
  return createPublicKey({ key: encode(SEQUENCE, Buffer.concat([algorithm, bits])), type: 'spki', format: 'der' });
}

/** A number whose first bit is set would be a negative one. */
function positive(number: Buffer): Buffer {
  return (number[0] ?? 0xff) < 0x80 ? number : Buffer.concat([Buffer.of(0), number]);
}

function encode(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

/** Bytes of tag and length, and of the content behind them. Reads only what OpenSSL wrote. */
function header(der: Buffer): [headerBytes: number, contentBytes: number] {
  const first = der[1]!;
  if (first < 0x80) return [2, first];
  const lengthBytes = first & 0x7f;
  return [2 + lengthBytes, der.readUIntBE(2, lengthBytes)];
}

function sizeOf(der: Buffer): number {
  const [headerBytes, contentBytes] = header(der);
  return headerBytes + contentBytes;
}

function contentOf(der: Buffer): Buffer {
  return der.subarray(header(der)[0], sizeOf(der));
}
