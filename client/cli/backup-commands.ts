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

const schedules: Command = {
  name: 'backup schedules',
  summary: 'list the nightly exports of the team and its sites',
  positionals: [],
  options: {},
  examples: ['backup schedules'],
  async run({ signalbox, surroundings: { signal, columns } }) {
    const found = await signalbox.all('listBackupSchedules', {}, { signal });
    const text = table(
      found,
      [
        ['ID', ({ id }) => id],
        ['SITE', ({ site_id: siteId }) => siteId ?? 'all others'],
        ['TIME', ({ time }) => time],
        ['KEEP', ({ keep }) => keep],
        ['NEXT', ({ next_at: nextAt }) => nextAt ?? 'off'],
      ],
      'no schedules',
      columns,
    );
    return { json: found, text };
  },
};

const schedule: Command = {
  name: 'backup schedule',
  summary: 'export the routers of the team, or of a site, every night',
  positionals: [],
  options: {
    time: { value: 'HH:MM', help: 'by the clocks of each site', required: true },
    site: { value: 'ID', help: 'only routers of this site' },
    keep: { value: 'N', help: 'exports of each router that are kept, 1 to 50; default: 14' },
  },
  examples: ['backup schedule --time 02:30', 'backup schedule --time 02:30 --keep 30'],
  async run({ signalbox, surroundings }, input) {
    const [site, keep] = [input.option('site'), input.number('keep')];
    const body = { time: input.option('time')!, ...(site === undefined ? {} : { site_id: site }), ...(keep === undefined ? {} : { keep }) };
    const { data } = await signalbox.call('createBackupSchedule', { body }, surroundings);
    return { json: data, text: `schedule ${data.id} runs next at ${data.next_at ?? 'no time'}\n` };
  },
};

const unschedule: Command = {
  name: 'backup unschedule',
  summary: 'delete a backup schedule; its backups stay',
  positionals: ['SCHEDULE'],
  options: {},
  examples: ['backup unschedule 01a1fba0-77aa-7e01-9b3c-2f4d6a8c0e12'],
  async run({ signalbox, surroundings }, input) {
    await signalbox.call('deleteBackupSchedule', { path: { backup_schedule_id: input.at(0) } }, surroundings);
    return { json: { id: input.at(0), deleted: true }, text: `schedule ${input.at(0)} is deleted\n` };
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

export const backupCommands: readonly Command[] = [list, take, schedules, schedule, unschedule, download, diff];
