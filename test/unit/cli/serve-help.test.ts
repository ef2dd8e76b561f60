import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveHelp } from '../../../server/cli/help.ts';

test('the help of serve has settings that exist, with their defaults', () => {
  const documented = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const help = serveHelp().replaceAll(/\n {2,}(?!SIGNALBOX)/g, ' ');
  const rows = [...help.matchAll(/^ {2}(SIGNALBOX_\w+) +.*?default: (\S+?)(?:,|$| )/gm)];
  expect(rows.map(([, name]) => name)).toEqual(
    expect.arrayContaining(['SIGNALBOX_LISTEN', 'SIGNALBOX_PUBLIC_URL', 'SIGNALBOX_DATABASE_URL']),
  );
  for (const [, name, value] of rows) {
    const row = documented.split('\n').find((line) => line.startsWith(`| \`${name!}\``));
    expect(row, name).toBeDefined();
    if (value !== 'from' && value !== 'none') expect(row).toContain(`\`${value!}\``);
  }
  for (const line of serveHelp().split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});
