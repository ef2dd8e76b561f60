import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowBatches } from '../../../agent/link/row-batches.ts';
import { decodeAgentMessage, MAX_MESSAGE_BYTES, ROW_BATCH_BYTES } from '../../../protocol/index.ts';

test('no rows give no batch', () => {
  expect([...rowBatches([])]).toEqual([]);
});

test('a row larger than a batch is sent alone', () => {
  const [small, large] = [{ a: '1' }, { a: 'x'.repeat(2 * ROW_BATCH_BYTES) }];
  expect([...rowBatches([small, large, small])]).toEqual([[small], [large], [small]]);
});

test('all rows arrive in order, in batches near the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ a: fc.nat(30_000), b: fc.nat(500) }), { maxLength: 60 }), (sizes) => {
      const rows = sizes.map(({ a, b }) => ({ a: 'a'.repeat(a), b: 'b'.repeat(b) }));
      const batches = [...rowBatches(rows)];
      expect(batches.flat()).toEqual(rows);
      for (const batch of batches) expect(JSON.stringify(batch).length).toBeLessThanOrEqual(ROW_BATCH_BYTES + 200);
    }),
    { numRuns: 50 },
  );
});

test.each(['漢', '\u0001', '"', '😀'])('a batch of the longest characters on the wire, %j, fits into a message', (character) => {
  const rows = Array.from({ length: 3000 }, () => ({ a: character.repeat(32) }));
  for (const batch of rowBatches(rows)) expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(MAX_MESSAGE_BYTES / 2);
});

test('many tiny rows do not exceed the count of one message', () => {
  expect([...rowBatches(Array.from({ length: 25_000 }, () => ({})))].map((batch) => batch.length)).toEqual([10_000, 10_000, 5000]);
});

test('rows with many different names are split into messages that the control plane accepts', () => {
  const rows = Array.from({ length: 100 }, (_, row) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`r${row}-${index}`, ''])),
  );
  const batches = [...rowBatches(rows)];
  expect(batches.flat()).toEqual(rows);
  for (const batch of batches)
    expect(decodeAgentMessage(JSON.stringify({ type: 'rows', id: 1, rows: batch, padding: 'x'.repeat(20_000) })).kind).toBe('message');
});

test.each([
  [Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`n${index}`, ''])), 'the answer has a row of 2000 properties'],
  [{ ['n'.repeat(1025)]: '' }, 'the answer has a property with a name too long for the tunnel'],
])('a row that does not fit into a message is refused', (row, message) => {
  expect(() => [...rowBatches([{}, row])]).toThrow(message);
});
