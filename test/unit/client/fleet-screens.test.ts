import { afterEach, describe, expect, test } from 'vitest';
import { displayWidth } from '../../../client/cli/display-width.ts';
import { FLEET_KEY, FleetApi } from '../../harness/fleet-api.ts';
import { runSignalbox } from '../../harness/run-cli.ts';
import type { Ran } from '../../harness/run-cli.ts';

/** What commands about the whole fleet print, at every size of fleet and terminal. */

let api: FleetApi;
afterEach(async () => api.close());

const run = (columns: number, ...words: string[]): Promise<Ran> => runSignalbox(words, { server: api.url, key: FLEET_KEY, columns });

describe.each([1, 50, 5000])('%i routers', (routers) => {
  describe.each([80, 140])('at %i columns', (columns) => {
    test.each(['status', 'routers --state down', 'routers', 'history edge'])('%s fits, and its columns are aligned', async (line) => {
      api = await FleetApi.start({ routers, down: Math.ceil(routers / 4), work: 6 });
      const { code, stdout, stderr } = await run(columns, ...line.split(' '));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const lines = stdout.split('\n');
      // A link to the command that shows everything is no part of a table.
      const tooWide = lines.filter((text) => displayWidth(text) > columns && !text.includes('… and '));
      expect(tooWide).toEqual([]);
      expect(misaligned(lines)).toEqual([]);
    });
  });
});

/** Rows whose STATE does not stand below its title. */
function misaligned(lines: readonly string[]): string[] {
  let place = -1;
  return lines.filter((line) => {
    const title = / STAT(?:E|US)( |$)/.exec(line);
    if (title) place = displayWidth(line.slice(0, title.index + 1));
    const state = / {2}(?:not_answering|agent_away|answering)(?= {2}|$)/.exec(line);
    return !title && state !== null && displayWidth(line.slice(0, state.index + 2)) !== place;
  });
}

test('5,000 routers cost at most six requests, and a quiet fleet three', async () => {
  api = await FleetApi.start({ routers: 5000, down: 300, work: 6 });
  await run(80, 'status');
  expect(api.requests).toHaveLength(6);
  await api.close();
  api = await FleetApi.start({ routers: 5000, down: 300 });
  await run(80, 'status');
  expect(api.requests.map((path) => path.split('?')[0])).toEqual(['/api/overview', '/api/jobs', '/api/routers']);
});

test('what a list leaves out is said, with the command that shows it', async () => {
  api = await FleetApi.start({ routers: 50, down: 9, work: 7 });
  const { stdout } = await run(80, 'status');
  expect(stdout).toContain('  … and 4 more: signalbox routers --state down --sort -since\n');
  expect(stdout).toContain('  … and 2 more: signalbox faults --open\n');
  expect((await run(80, 'status', '--limit', '20')).stdout).not.toContain('… and');
});

test('the most severe faults and the latest losses come first', async () => {
  api = await FleetApi.start({ routers: 50, down: 9, work: 6 });
  const { stdout } = await run(140, 'status', '--limit', '20');
  expect([...stdout.matchAll(/^ {2}(critical|warning|info) /gm)].map(([, severity]) => severity)).toEqual([
    'critical',
    'critical',
    'warning',
    'warning',
    'info',
    'info',
  ]);
  const since = [...stdout.matchAll(/(?:not_answering|agent_away) +(\S+)/g)]
    .map(([, moment]) => moment!)
    .filter((text) => /^\d\d:/.test(text));
  expect(since).toHaveLength(9);
  expect(since).toEqual(since.toSorted().toReversed());
});

test('JSON has everything, exactly as the server says it', async () => {
  api = await FleetApi.start({ routers: 50, down: 9, work: 7 });
  const { stdout } = await run(80, 'status', '--json');
  const { at, overview, down, open_faults: faults } = JSON.parse(stdout) as Record<string, unknown[]>;
  expect(at).toBe('2031-05-01T08:30:00.000Z');
  expect(overview).toEqual(api.fleet.overview);
  expect([down!.length, faults!.length]).toEqual([9, 7]);
});

test('a wait for the rate limit is said', async () => {
  api = await FleetApi.start({ routers: 1 });
  api.refusals.push({ status: 429, headers: { 'retry-after': '1' } });
  expect(await run(80, 'status')).toMatchObject({ code: 0, stderr: 'the rate limit is reached; waiting 1 s\n' });
});

test.each(['status', 'status --limit 1', 'routers', 'routers --fields identity,agent_name', 'history edge'])(
  '%s: text from routers and people never carries a terminal escape to the screen',
  async (line) => {
    api = await FleetApi.start({ routers: 3, down: 2, work: 2, words: 'a\u001b]0;owned\u0007b\u009b31mc\u202Ed\re' });
    const { stdout, stderr } = await run(80, ...line.split(' '));
    expect(stdout).toContain('owned');
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
  },
);
