import { writeFile } from 'node:fs/promises';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { printableLines, table } from './text.ts';

const PARTS = ['binary', 'export', 'export_after'] as const;
type Part = (typeof PARTS)[number];

const list: Command = {
  name: 'backups',
  summary: 'list the backups of a router, newest first',
  positionals: ['ROUTER'],
  options: {},
  examples: ['backups edge-berlin'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const found = await signalbox.all('listBackups', { path: { router_id: input.at(0) } }, { signal });
    const text = table(
      found,
      [
        ['ID', (backup) => backup.id],
        ['TAKEN', (backup) => backup.created_at],
        ['STATE', (backup) => backup.state],
        ['PARTS', (backup) => backup.parts.map(({ part, size }) => `${part} (${size} bytes)`).join(', ')],
        ['JOB', (backup) => backup.job_id],
        ['ERROR', (backup) => backup.error],
      ],
      'no backups',
      columns,
    );
    return { json: found, text };
  },
};

const take: Command = {
  name: 'backup take',
  summary: 'take a backup of a router now, without a job',
  positionals: ['ROUTER'],
  options: { 'export-only': { help: 'only the text export, which writes nothing on the router' } },
  examples: ['backup take edge-berlin', 'backup take edge-berlin --export-only'],
  async run({ signalbox, surroundings }, input) {
    const body = input.isOn('export-only') ? { parts: ['export' as const] } : {};
    const { data } = await signalbox.call('takeBackup', { path: { router_id: input.at(0) }, body }, surroundings);
    return { json: data, text: `backup ${data.id} is ${data.state}\n` };
  },
};

const download: Command = {
  name: 'backup download',
  summary: 'download a part of a backup, or print its text export',
  positionals: ['ROUTER', 'BACKUP', '[FILE]'],
  options: { part: { value: 'PART', help: `${PARTS.join(', ')}; default: export` } },
  examples: [
    'backup download edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a',
    'backup download edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a edge.backup --part binary',
  ],
  async run({ signalbox, surroundings: { signal } }, input) {
    const part = readPart(input.option('part') ?? 'export');
    const file = input.optional(2);
    if (file === undefined && part === 'binary') throw new UsageError('a binary backup cannot be printed: give FILE');
    const [router, backup] = [input.at(0), input.at(1)];
    const bytes = await signalbox.download(
      'downloadBackup',
      { path: { router_id: router, backup_id: backup }, query: { part } },
      { signal },
    );
    if (file === undefined) return { json: { part, text: bytes.toString('utf8') }, text: printableLines(bytes.toString('utf8')) };
    // A backup contains the router's secrets.
    await writeFile(file, bytes, { mode: 0o600 });
    return { json: { part, file, bytes: bytes.length }, text: `${bytes.length} bytes written to ${file}\n` };
  },
};

function readPart(text: string): Part {
  const part = PARTS.find((name) => name === text);
  if (part === undefined) throw new UsageError(`--part must be ${PARTS.join(', ')}`);
  return part;
}

const diff: Command = {
  name: 'backup diff',
  summary: 'compare the text exports of two backups',
  positionals: ['ROUTER', 'OLDER', 'NEWER'],
  options: {},
  examples: ['backup diff edge-berlin 01a1fba0-5b1e-7354-a8b1-996d0b28db1a 01a1fbc2-1111-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings: { signal } }, input) {
    const path = { router_id: input.at(0), backup_id: input.at(1), other_id: input.at(2) };
    const { data } = await signalbox.call('compareBackups', { path }, { signal });
    const note = data.truncated ? '\n(truncated: the difference is longer)\n' : '';
    return { json: data, text: data.changed ? `${printableLines(data.diff).trimEnd()}\n${note}` : 'no difference\n' };
  },
};

export const backupCommands: readonly Command[] = [list, take, download, diff];
