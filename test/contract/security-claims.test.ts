import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** SECURITY.md is held to what tests show: each row of its tables is a claim and the tests that show it. */

const ROOT = new URL('../../', import.meta.url);

interface Claim {
  claim: string;
  /** As it is written in the second cell. */
  references: string[];
}

/** The rows of every table whose second column is headed "shown by". */
function readClaims(document: string): Claim[] {
  const claims: Claim[] = [];
  let inTable = false;
  for (const line of document.split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim())
      : undefined;
    if (cells?.[1] === 'shown by') inTable = true;
    else if (!cells) inTable = false;
    else if (inTable && !/^-+$/.test(cells[0]!))
      claims.push({ claim: cells[0]!, references: (cells[1] ?? '').split('<br>').filter((part) => part !== '') });
  }
  return claims;
}

/** What is wrong with a reference; undefined when the file has a test of that title. */
async function mistakeIn(reference: string): Promise<string | undefined> {
  const match = /^`(test\/[\w/.-]+\.test\.ts)`: (.+)$/.exec(reference);
  if (!match) return `must be written as \`test/….test.ts\`: title`;
  const [, file, title] = match as unknown as [string, string, string];
  if (!existsSync(new URL(file, ROOT))) return `there is no ${file}`;
  return titlesIn(await readFile(new URL(file, ROOT), 'utf8')).has(title) ? undefined : `${file} has no test "${title}"`;
}

/** Titles of `test`, `it` and their forms with `.each` and the like, as they are written. */
function titlesIn(source: string): Set<string> {
  const quoted = [...source.matchAll(/(?:\b(?:test|it|describe)(?:\.\w+)*\(|\]\)\(|\)\()\s*(['"`])((?:\\.|(?!\1)[^\n])*)\1/g)];
  return new Set(quoted.map(([, , title]) => title!.replaceAll("\\'", "'")));
}

const document = await readFile(new URL('SECURITY.md', ROOT), 'utf8');
const claims = readClaims(document);

test('SECURITY.md makes its claims in tables', () => {
  expect(claims.length).toBeGreaterThan(30);
});

test.each(claims)('$claim', async ({ references }) => {
  expect(references.length, 'a test that shows it').toBeGreaterThan(0);
  const mistakes = await Promise.all(references.map(mistakeIn));
  expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
});

test('a claim without a test, a missing file and a missing title are mistakes', async () => {
  expect(readClaims('| claim | shown by |\n|---|---|\n| It is safe. | |')).toEqual([{ claim: 'It is safe.', references: [] }]);
  expect(await mistakeIn('by careful reading')).toContain('must be written as');
  expect(await mistakeIn('`test/contract/nowhere.test.ts`: a title')).toContain('there is no');
  expect(await mistakeIn('`test/contract/security-claims.test.ts`: no such title')).toContain('has no test');
  expect(await mistakeIn('`test/contract/security-claims.test.ts`: SECURITY.md makes its claims in tables')).toBeUndefined();
});
