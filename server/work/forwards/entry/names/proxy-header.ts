import ipaddr from 'ipaddr.js';
import { crc32c } from './crc32c.ts';
import { INCOMPLETE, refused } from './prelude.ts';
import type { Prelude } from './prelude.ts';

/**
 * The header of the PROXY protocol, version 2 (haproxy.org, proxy-protocol.txt, section 2.2): the client behind a load
 * balancer. Version 1 is refused: it is text without a length or a checksum.
 */
export type ProxyHeader =
  /** The client on the other side of the proxy. */
  | { kind: 'client'; address: string; port: number }
  /** A health check of the proxy itself. */
  | { kind: 'local' };

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Signature, version and command, family, length. */
const FIXED_BYTES = 16;
/** Most bytes after the fixed part. Addresses and TLVs in use take a few hundred; a TLV may hold a certificate's name. */
const MAX_VARIABLE_BYTES = 4096;

/** Bytes of the address block and of one address, by family and transport. Only TCP reaches this port. */
const FAMILIES: Readonly<Record<number, { block: number; address: number }>> = {
  0x11: { block: 12, address: 4 },
  0x21: { block: 36, address: 16 },
};

const TLV_CRC32C = 0x03;

/** Reads the header at the beginning of `bytes`. If it has a checksum, the checksum must match. */
export function parseProxyHeader(bytes: Buffer): Prelude<ProxyHeader> {
  const known = Math.min(bytes.length, SIGNATURE.length);
  if (bytes.compare(SIGNATURE, 0, known, 0, known) !== 0) return refused('no PROXY header of version 2');
  if (bytes.length < FIXED_BYTES) return INCOMPLETE;
  const variable = bytes.readUInt16BE(14);
  if (variable > MAX_VARIABLE_BYTES) return refused('a PROXY header that is too long');
  const length = FIXED_BYTES + variable;
  // Version 2 in the upper half; the command in the lower one.
  if (bytes[12] !== 0x20 && bytes[12] !== 0x21) return refused('a PROXY header of another version or command');
  if (bytes.length < length) return INCOMPLETE;
  if (bytes[12] === 0x20) return { state: 'complete', value: { kind: 'local' }, length };
  return readClient(bytes.subarray(0, length));
}

function readClient(header: Buffer): Prelude<ProxyHeader> {
  const family = FAMILIES[header[13]!];
  // Without an address it is unknown whether the client is allowed.
  if (!family) return refused('a PROXY header without a TCP address');
  if (header.length < FIXED_BYTES + family.block) return refused('a PROXY header that is too short');
  if (!checksumHolds(header, FIXED_BYTES + family.block)) return refused('a PROXY header with a wrong checksum or length');
  const source = header.subarray(FIXED_BYTES, FIXED_BYTES + family.address);
  return {
    state: 'complete',
    length: header.length,
    value: {
      kind: 'client',
      // An IPv4 address in IPv6 form is the IPv4 one.
      address: ipaddr.process(ipaddr.fromByteArray([...source]).toString()).toString(),
      // Both addresses come first, then both ports.
      port: header.readUInt16BE(FIXED_BYTES + 2 * family.address),
    },
  };
}

/** Walks the TLVs. False when one ends beyond the header, or when a checksum TLV does not match. */
function checksumHolds(header: Buffer, firstTlv: number): boolean {
  let at = firstTlv;
  while (at < header.length) {
    if (at + 3 > header.length) return false;
    const value = at + 3;
    const next = value + header.readUInt16BE(at + 1);
    if (next > header.length) return false;
    if (header[at] === TLV_CRC32C && !(next === value + 4 && header.readUInt32BE(value) === checksumOf(header, value))) return false;
    at = next;
  }
  return true;
}

/** The checksum of the whole header, with zeros in place of the checksum. */
function checksumOf(header: Buffer, place: number): number {
  const zeroed = Buffer.from(header);
  zeroed.writeUInt32BE(0, place);
  return crc32c(zeroed);
}
