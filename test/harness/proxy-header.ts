import ipaddr from 'ipaddr.js';
import { crc32c } from '../../server/work/forwards/entry/names/crc32c.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

export interface HeaderOptions {
  source?: string;
  port?: number;
  /** `0x21` PROXY, `0x20` LOCAL. */
  command?: number;
  /** Family and transport; by default those of the source. */
  family?: number;
  tlvs?: { type: number; value: Buffer }[];
  /** Adds the checksum, right or wrong. */
  checksum?: 'right' | 'wrong';
}

/** A PROXY protocol header of version 2, as a load balancer sends it ahead of a client's bytes. */
export function proxyHeader({
  source = '203.0.113.7',
  port = 40_000,
  command = 0x21,
  family,
  tlvs = [],
  checksum,
}: HeaderOptions = {}): Buffer {
  const address = Buffer.from(ipaddr.parse(source).toByteArray());
  const destination = Buffer.alloc(address.length, 1);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  ports.writeUInt16BE(443, 2);
  const all = checksum ? [...tlvs, { type: 0x03, value: Buffer.alloc(4) }] : tlvs;
  const block = Buffer.concat([address, destination, ports, ...all.map(tlv)]);
  const fixed = Buffer.concat([SIGNATURE, Buffer.from([command, family ?? (address.length === 4 ? 0x11 : 0x21), 0, 0])]);
  fixed.writeUInt16BE(block.length, 14);
  const header = Buffer.concat([fixed, block]);
  if (checksum) header.writeUInt32BE((crc32c(header) + (checksum === 'right' ? 0 : 1)) >>> 0, header.length - 4);
  return header;
}

function tlv({ type, value }: { type: number; value: Buffer }): Buffer {
  const head = Buffer.from([type, 0, 0]);
  head.writeUInt16BE(value.length, 1);
  return Buffer.concat([head, value]);
}
