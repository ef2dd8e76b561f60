import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBench } from './run-script.ts';

const fragments = [
  ':put ',
  ':if ',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '"',
  '\\',
  '$',
  '$x',
  ';',
  '\n',
  '\r\n',
  ' ',
  '=',
  'do=',
  'else=',
  ':foreach i in=',
  '1',
  'a',
  '->',
  '.',
  ',',
  '!',
  '/ip address ',
  'print ',
  'find ',
  'where ',
  'add ',
  'set ',
  'address=',
  '..',
  '#',
  '~',
  '&&',
  ' and ',
  ':local x ',
  ':parse ',
  '10.0.0.1/24',
  '*1',
  '1d',
  'é',
  '\u0000',
];

test('whatever the source is, the answer is a result, not an exception', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...fragments), { maxLength: 30 }), async (words) => {
      const bench = createBench();
      const result = await bench.run(words.join(''), { signal: AbortSignal.timeout(1000) });
      if (result.syntaxError === true) {
        expect(result.error).toMatch(/\(line \d+ column \d+\)$/);
        expect(result.output).toBe(`${result.error}\n`);
      }
    }),
    { numRuns: 2000 },
  );
});

test('any text survives quoting, a variable and a menu', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async (text) => {
      const quoted = text
        .replaceAll(/["\\$]/g, (character) => `\\${character}`)
        .replaceAll('\r', '\\r')
        .replaceAll('\n', '\\n');
      const bench = createBench();
      const { output } = await bench.run(`:local x "${quoted}"; /system identity set name=$x; :put "<$[/system identity get name]>"`);
      expect(output).toBe(`<${text.replaceAll('\r\n', '\n')}>\n`);
    }),
    { numRuns: 300 },
  );
});

test('a long script is parsed in good time', async () => {
  const source = Array.from({ length: 4000 }, (_, index) => `:local v${index} (${index} + 1)`).join('\n');
  const start = performance.now();
  await createBench().run(source);
  expect(performance.now() - start).toBeLessThan(2000);
});
