/** The Castagnoli polynomial, bits reversed. */
const POLYNOMIAL = 0x82f6_3b78;

/** CRC-32C (RFC 3720, appendix B.4). Bit by bit, because it is computed once per connection over a few hundred bytes. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
