import { expect, test } from 'vitest';
import { ByteRing } from '../../runtime/byte-ring.ts';

function all(ring: ByteRing, from = ring.oldest): string {
  const pieces: Buffer[] = [];
  for (let at = from; at < ring.total;) {
    const piece = ring.read(at, 3);
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces).toString();
}

test('keeps the newest bytes, addressed by their offset', () => {
  const ring = new ByteRing(8);
  ring.append(Buffer.from('abc'));
  expect([all(ring), ring.oldest, ring.total]).toEqual(['abc', 0, 3]);
  ring.append(Buffer.from('defghij'));
  expect([all(ring), ring.oldest, ring.total]).toEqual(['cdefghij', 2, 10]);
  expect(all(ring, 7)).toBe('hij');
  ring.append(Buffer.from('0123456789-long'));
  expect([all(ring), ring.total]).toEqual(['789-long', 25]);
  expect(ring.read(ring.total, 5)).toHaveLength(0);
});

test('begins where a stream is joined', () => {
  const ring = new ByteRing(8, 1000);
  expect([ring.oldest, ring.total]).toEqual([1000, 1000]);
  ring.append(Buffer.from('abc'));
  expect([all(ring), ring.oldest, ring.total]).toEqual(['abc', 1000, 1003]);
});
