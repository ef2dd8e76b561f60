import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeWireText, wireBytes } from '../../../agent/core/wire-text.ts';

test('any bytes of a router can be restored from their text and their number', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (array) => {
      const bytes = Buffer.from(array);
      expect(wireBytes(decodeWireText(bytes), bytes.length)).toEqual(bytes);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['UTF-8', Buffer.from('Łódź €')],
  ['a code page', Buffer.from([0x63, 0x61, 0x66, 0xe9])],
  ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['a character cut in two', Buffer.from('€').subarray(0, 2)],
])('%s', (_name, bytes) => {
  expect(wireBytes(decodeWireText(bytes), bytes.length)).toEqual(bytes);
});

test('a text of unexpected length is treated as UTF-8', () => {
  expect(wireBytes('é', 7)).toEqual(Buffer.from('é'));
  expect(wireBytes('日本', 2)).toEqual(Buffer.from('日本'));
});
