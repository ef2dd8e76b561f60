import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function documents(): string[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
}

test('the list of documents names every one of them', async () => {
  const list = readFileSync(path.join(ROOT, 'docs/README.md'), 'utf8');
  const files = (await readdir(path.join(ROOT, 'docs'), { recursive: true })).filter((file) => file.endsWith('.md') && file !== 'README.md');
  for (const file of files) expect(list).toContain(`(${file})`);
});

test.each(documents())('%s has no link that leads nowhere', (document) => {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!).filter((link) => !/^(?:https?|mailto):/.test(link));
  for (const link of links) expect(existsSync(path.join(ROOT, path.dirname(document), link)), link).toBe(true);
});
