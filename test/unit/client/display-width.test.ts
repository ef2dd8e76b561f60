import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { cutToWidth, displayWidth, padToWidth } from '../../../client/cli/display-width.ts';

/** Node's own line editor knows where its cursor stands after a text. */
const editor = createInterface({ input: new PassThrough(), output: new PassThrough(), prompt: '' });
afterAll(() => editor.close());

function widthInNode(text: string): number {
  Object.assign(editor, { line: text, cursor: text.length });
  return editor.getCursorPos().cols;
}

test.each([
  ['gw-berlin', 9],
  ['Zürich', 6],
  ['Роутер', 6],
  ['東京本社', 8],
  ['ルータ', 6],
  ['ﾙｰﾀ', 3],
  ['서울', 4],
  ['ＡＢ', 4],
  ['e\u0301', 1],
  ['\u200d', 0],
  ['🚀', 2],
  ['❤️', 2],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['1️⃣', 2],
  ['→ …', 3],
  ['\u0d4e ', 2],
  ['\u0600 ', 1],
  ['', 0],
])('%s takes %i cells', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('every East Asian character is as wide as in the line editor of Node', () => {
  const ranges = [
    [0x2e80, 0x33ff],
    [0x3400, 0x4dbf],
    [0x4e00, 0xa4c6],
    [0xac00, 0xd7a3],
    [0xf900, 0xfaff],
    [0xff01, 0xff9f],
    [0x20000, 0x2fa1d],
  ] as const;
  const wrong: string[] = [];
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code += 1) {
      const text = String.fromCodePoint(code);
      // Not assigned, and marks, which never stand alone.
      if (/[\p{Cn}\p{Mark}\u3164]/u.test(text)) continue;
      if (displayWidth(text) !== widthInNode(text)) wrong.push(`${code.toString(16)} ${text}`);
    }
  }
  expect(wrong).toEqual([]);
});

describe('any text', () => {
  const anyText = fc
    .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0x1ffff })))
    .map((codes) => String.fromCodePoint(...codes).toWellFormed());

  test('is cut so that it fits, and says that it was cut', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, width) => {
        const cut = cutToWidth(text, width);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true);
      }),
    );
  });

  test('is filled up to the width', () => {
    fc.assert(fc.property(anyText, (text) => displayWidth(padToWidth(text, 200)) >= 200));
  });
});
