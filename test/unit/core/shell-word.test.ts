import { expect, test } from 'vitest';
import { shellWord } from '../../../server/platform/core/shell-word.ts';

test.each([
  ['Example', 'Example'],
  ["Riga's $(x)", String.raw`'Riga'\''s $(x)'`],
])('%s is one word of a shell', (text, word) => {
  expect(shellWord(text)).toBe(word);
});
