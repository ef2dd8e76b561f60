import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../server/outbound/events/types.ts';
import { AppError, ERROR_CODES } from '../../server/platform/core/errors.ts';
import type { ErrorCode } from '../../server/platform/core/errors.ts';
import { toProblem } from '../../server/platform/http/error-handler.ts';
import { ENDPOINTS } from './interface/endpoints.ts';
import { RECORDS } from './interface/records.ts';
import type { RecordName } from './interface/records.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function documents(): string[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

test('the list of documents names every one of them', async () => {
  const list = readFileSync(path.join(ROOT, 'docs/README.md'), 'utf8');
  const files = (await readdir(path.join(ROOT, 'docs'), { recursive: true })).filter(
    (file) => file.endsWith('.md') && file !== 'README.md',
  );
  for (const file of files) expect(list).toContain(`(${file})`);
});

test.each(documents())('%s has no link that leads nowhere', (document) => {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^(?:https?|mailto):/.test(link));
  for (const link of links) expect(existsSync(path.join(ROOT, path.dirname(document), link)), link).toBe(true);
});

/** Paths as comments, messages and pages write them, from the top of the repository or beside the file that names them. */
function filesNamedIn(text: string): string[] {
  const inFolders = [
    ...text.matchAll(
      /(?<![\w/.-])((?:access|agent|client|docker|docs|fleet|operations|outbound|platform|protocol|routeros-text|runtime|scripts|server|systemd|test|work)\/[\w./-]+\.(?:ts|mjs|yml|yaml|csv|service|example|json))(?![\w/])/g,
    ),
  ];
  const pages = [...text.matchAll(/(?<![\w/.-])([\w-][\w./-]*\.md)\b/g)];
  return [...inFolders, ...pages].map(([, name]) => name!);
}

test('no file of the repository names a document that is not there', () => {
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  const pages = new Set(tracked.map((file) => path.basename(file)));
  const text = tracked.filter(
    (file) => /\.(?:ts|mjs|cjs|md|yml|service|Dockerfile|example)$/.test(file) && file !== 'test/contract/documents.test.ts',
  );
  const missing = text.flatMap((file) => {
    if (!existsSync(path.join(ROOT, file))) return [];
    const names = filesNamedIn(readFileSync(path.join(ROOT, file), 'utf8')).filter((name) => name.endsWith('.md'));
    const places = ['', path.dirname(file), 'docs'];
    const isThere = (name: string): boolean =>
      name.includes('/') ? places.some((place) => existsSync(path.join(ROOT, place, name))) : pages.has(name);
    return names.filter((name) => !isThere(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test.each(documents())('%s names no source file that is not there', (document) => {
  const names = filesNamedIn(readFileSync(path.join(ROOT, document), 'utf8')).filter((name) => !name.endsWith('.md'));
  const places = [
    '',
    path.dirname(document),
    'server',
    'server/platform',
    'server/work',
    'server/fleet',
    'server/access',
    'server/outbound',
    'agent',
    'test',
  ];
  expect(names.filter((name) => !places.some((place) => existsSync(path.join(ROOT, place, name))))).toEqual([]);
});

/** Lines of documents, units and images, with where they are. */
function linesForPeople(): { at: string; line: string }[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md', 'systemd', 'docker', '*.yml'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return files
    .split('\n')
    .filter(Boolean)
    .flatMap((file) => {
      const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
      return lines.map((line, index) => ({ at: `${file}:${index + 1}`, line }));
    });
}

test('npm is given a file with ./ or a whole path: dist/x.tgz is a repository of GitHub to it', () => {
  const wrong = linesForPeople().filter(({ line }) =>
    [...line.matchAll(/npm install ([^`#&|\n]*)/g)].some(([, words]) =>
      words!.split(/\s+/).some((word, index, all) => /\.tgz$|^FILE$/.test(word) && !/^\.?\//.test(word) && all[index - 1] !== '--prefix'),
    ),
  );
  expect(wrong).toEqual([]);
});

test.each(documents())('%s says how to run each script that it has people fetch', (document) => {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  const blocks = [...text.matchAll(/^```console\n([^]*?)^```/gm)].map(([, lines]) => lines!);
  const wrong = blocks.filter((lines) => /curl .*\/agent\/install\.sh/.test(lines) && !/^(?:sudo )?sh install\.sh --token/m.test(lines));
  expect(wrong).toEqual([]);
});

test('nothing removes a folder in which npm has installed the control plane', () => {
  const lines = linesForPeople();
  const prefixes = new Set(lines.flatMap(({ line }) => [...line.matchAll(/--prefix (\/\S+)/g)].map(([, folder]) => folder!)));
  expect([...prefixes]).toContain('/opt/signalbox');
  const removing = lines.filter(({ line }) => /\brm -\w*r/.test(line));
  const wrong = removing.filter(({ line }) => line.split(/\s+/).some((word) => prefixes.has(word.replace(/\/$/, ''))));
  expect(wrong).toEqual([]);
});

/** Where docs/interface.md describes each record of the fixed interface. */
const SECTION_OF: Record<RecordName, string> = {
  router: 'Router',
  oem: 'Product',
  metadata: 'Metadata',
  job: 'Job',
  receipt: 'New job',
  fault: 'Fault',
  forward: 'Forward',
  device: 'Device',
  notifiable: 'Notification group',
  group: 'Notification group',
  plant: 'Plant',
  plantError: 'Plant',
};

describe('docs/interface.md', () => {
  const text = readFileSync(path.join(ROOT, 'docs/interface.md'), 'utf8');
  const namesIn = (heading: string): string[] => {
    const section = text.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
    return [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  };

  test.each(Object.keys(RECORDS) as RecordName[])('names every fixed field of %s', (record) => {
    expect(namesIn(SECTION_OF[record])).toEqual(expect.arrayContaining(Object.keys(RECORDS[record])));
  });

  test('has every fixed operation and its fields', () => {
    for (const { method, path: route, body = {} } of ENDPOINTS) {
      expect(text).toContain(`\`${method} ${route.replace('{macAddress}', '{mac_address}').replace('{group}', '{group_id}')}\``);
      for (const name of Object.keys(body)) expect(text, `${method} ${route}`).toContain(`\`${name}\``);
    }
  });
});

test('CONTRIBUTING.md names every Debian package that the tests use', () => {
  const [, packages] = /^packages=\((.*)\)$/m.exec(readFileSync(path.join(ROOT, '.ci/run'), 'utf8'))!;
  const [, named] = /apt-get install ([\s\S]*?)\n```/.exec(readFileSync(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8'))!;
  expect(named!.split(/[\s\\]+/).toSorted()).toEqual(packages!.split(' ').toSorted());
});

test('README.md is short enough to be read', () => {
  expect(statSync(path.join(ROOT, 'README.md')).size).toBeLessThan(8_000);
});

describe('docs/api.md', () => {
  const text = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => /^\| \d{3}/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, 3)
        .map((cell) => cell.trim()),
    );

  test('has every error code beside its status', () => {
    const listed = rows.flatMap(([statuses, codes]) => [...codes!.matchAll(/`(\w+)`/g)].map(([, code]) => [code!, statuses!] as const));
    expect(listed.map(([code]) => code).toSorted()).toEqual([...ERROR_CODES].toSorted());
    for (const [code, statuses] of listed)
      expect(statuses.split(', '), code).toContain(String(toProblem(new AppError(code as ErrorCode, ''), '').status));
  });

  test('has every type of event', () => {
    const records = new Set(EVENT_TYPES.map((type) => type.split('.')[0]));
    const listed = [...text.matchAll(/`((\w+)\.\w+)`/g)].flatMap(([, type, record]) => (records.has(record) ? [type!] : []));
    expect([...new Set(listed)].toSorted()).toEqual([...EVENT_TYPES].toSorted());
  });
});
