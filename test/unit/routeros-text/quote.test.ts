import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quote, quoteAscii } from '../../../routeros-text/quote.ts';
import { splitConsoleWords } from '../../../server/work/commands/console-words.ts';
import { Cursor } from '../../simulator/script/cursor.ts';
import type { Grammar } from '../../simulator/script/grammar.ts';
import { parseString } from '../../simulator/script/parse-strings.ts';

/** The text that the simulated router reads; its parser shares no code with the product. */
function readByRouter(source: string): unknown {
  const cursor = new Cursor(source);
  const refuse = (): never => {
    throw new Error('an expression in a quoted text');
  };
  const read = parseString({ cursor, variable: refuse, enclosed: refuse } as unknown as Grammar);
  expect(cursor.atEnd).toBe(true);
  return read.kind === 'literal' ? read.value : read;
}

const readByControlPlane = (source: string): string | undefined => splitConsoleWords(`x=${source}`)[0]?.value;
const anyText = fc.string({ unit: 'binary' });
const withSigns = fc.string({
  unit: fc.constantFrom('"', '\\', '$', '?', '\n', '\r', '\t', '\u0000', '\u001B', '\u0085', '[', '(', 'A', '0', 'é', '😀'),
});

describe.each([
  ['quote', quote],
  ['quoteAscii', quoteAscii],
])('%s', (_, write) => {
  test('a router reads the same text again', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, withSigns), (text) => {
        expect(readByRouter(write(text))).toEqual({ type: 'str', text });
      }),
    );
  });

  test('the control plane reads the same text again; no value holds NUL', () => {
    const text = fc.oneof(anyText, withSigns).map((each) => each.replaceAll('\0', ''));
    fc.assert(
      fc.property(text, (each) => {
        expect(readByControlPlane(write(each))).toBe(each);
      }),
    );
  });

  test('is one line without characters that a terminal or the console interprets', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, withSigns), (text) => {
        expect(
          write(text)
            .slice(1, -1)
            .replaceAll(/\\[0-9A-F]{2}/g, ''),
        ).not.toMatch(/["\\$?]|\p{Cc}/u);
      }),
    );
  });
});

test.each([
  ['', '""', '""'],
  ['plain', '"plain"', '"plain"'],
  ['a "b" $c \\ ?', '"a \\22b\\22 \\24c \\5C \\3F"', '"a \\22b\\22 \\24c \\5C \\3F"'],
  ['\r\n\t\u001B', '"\\0D\\0A\\09\\1B"', '"\\0D\\0A\\09\\1B"'],
  ['\u0085', '"\\C2\\85"', '"\\C2\\85"'],
  ['é😀', '"é😀"', '"\\C3\\A9\\F0\\9F\\98\\80"'],
])('%j is written as %s, in ASCII as %s', (text, plain, ascii) => {
  expect(quote(text)).toBe(plain);
  expect(quoteAscii(text)).toBe(ascii);
});
