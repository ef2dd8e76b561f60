import { afterEach, describe, expect, test } from 'vitest';
import type { Screen } from '../../../client/cli/command.ts';
import { displayWidth } from '../../../client/cli/display-width.ts';
import { FLEET_KEY, FleetApi } from '../../harness/fleet-api.ts';
import { runSignalbox } from '../../harness/run-cli.ts';
import type { Ran } from '../../harness/run-cli.ts';
import { SmallTerminal } from '../../harness/small-terminal.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let api: FleetApi;
let running: Session | undefined;
afterEach(async () => {
  running?.ended.abort();
  await running?.result;
  running = undefined;
  await api.close();
});

/** `signalbox top` on a terminal inside this process. */
class Session {
  readonly terminal: SmallTerminal;
  readonly ended = new AbortController();
  readonly result: Promise<Ran>;
  hasKeyboard = false;
  press: (key: string) => void = () => undefined;
  resized: () => void = () => undefined;

  constructor(columns: number, rows: number, hasColour: boolean) {
    this.terminal = new SmallTerminal(columns, rows);
    const screen: Screen = {
      size: () => ({ columns: this.terminal.columns, rows: this.terminal.rows }),
      onResize: (listener) => {
        this.resized = listener;
        return () => void (this.resized = () => undefined);
      },
      readKeys: (onKey) => {
        [this.press, this.hasKeyboard] = [onKey, true];
        return () => void (this.hasKeyboard = false);
      },
      hasColour,
    };
    const stdout = (text: string): void => this.terminal.write(text);
    this.result = runSignalbox(['top'], { server: api.url, key: FLEET_KEY, columns, screen, stdout, signal: this.ended.signal });
  }

  get text(): string {
    return this.terminal.lines.join('\n');
  }

  shows(text: string | RegExp): Promise<unknown> {
    return waitUntil(`the screen shows ${text}`, () => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text)));
  }
}

function openTop(columns: number, rows: number, hasColour = true): Session {
  running = new Session(columns, rows, hasColour);
  return running;
}

const SINCE = '2031-05-01T08:30:00.000Z';
const changed = (n: number, state: string): Record<string, unknown> => {
  const { id, identity, agent_id: agent } = api.fleet.routers[n]!;
  return { router_id: id, identity, agent_id: agent, state, state_since: SINCE, state_reason: 'silence' };
};

describe.each([1, 50, 5000])('%i routers', (routers) => {
  test.each([
    [80, 24],
    [140, 50],
    [40, 10],
  ])('on %i x %i: nothing scrolls, nothing is too long, and the counts are there', async (columns, rows) => {
    api = await FleetApi.start({ routers, down: Math.ceil(routers / 4), work: 6 });
    const session = openTop(columns, rows);
    await session.shows('live');
    await waitUntil('the stream is open', () => api.streams.size === 1);
    for (let n = 0; n < Math.min(routers, 20); n += 1) api.publish('router.changed', changed(n, 'agent_away'));
    await session.shows(/Routers +\d/);
    if (rows > 10) await session.shows('router.changed');
    await session.shows(rows > 10 ? 'Not answering' : 'more lines: use a higher terminal');
    expect(session.terminal.lines).toHaveLength(rows);
  });
});

test('an event is on the screen at once, and costs no request of its own', async () => {
  api = await FleetApi.start({ routers: 50 });
  const session = openTop(80, 24);
  await session.shows('answering 50');
  await waitUntil('the stream is open', () => api.streams.size === 1);
  const before = api.requests.length;
  for (let n = 0; n < 40; n += 1) api.publish('router.changed', changed(n, 'agent_away'));
  await session.shows('answering 10, agent_away 40');
  await session.shows(/router\.changed +gw-39 +agent_away {2}silence/);
  expect(session.text).toMatch(/^ {2}edge-berlin +agent_away +08:30:00 +\d+ s +silence/m);
  // The overview, once for all of them.
  expect(api.requests.slice(before).filter((path) => path !== '/api/overview')).toEqual([]);
  expect(api.requests.length - before).toBeLessThanOrEqual(1);
});

test('jobs come and go', async () => {
  api = await FleetApi.start({ routers: 3 });
  const session = openTop(80, 24);
  await waitUntil('the stream is open', () => api.streams.size === 1);
  const job = { job_id: 'j', router_id: api.fleet.routers[0]!['id'], description: 'Upgrade' };
  api.publish('job.running', { ...job, status: 'running' });
  await session.shows(/Running jobs \(1\)\n {2}edge-berlin +\d+ s +Upgrade/);
  api.publish('job.completed', { ...job, status: 'completed' });
  await waitUntil('it is gone', () => !session.text.includes('Running jobs'));
  expect(session.text).toMatch(/job\.completed +edge-berlin +Upgrade/);
});

test('a resize draws everything again', async () => {
  api = await FleetApi.start({ routers: 50, down: 10 });
  const session = openTop(80, 24);
  await session.shows('live');
  for (const [columns, rows] of [
    [140, 50],
    [30, 6],
    [80, 24],
  ] as const) {
    session.terminal.resize(columns, rows);
    session.resized();
    await session.shows(/^live /);
    expect(session.terminal.lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
  }
  await session.shows('Not answering (10)');
});

test.each(['q', 'Ctrl-C'])('%s leaves the terminal as it was', async (how) => {
  api = await FleetApi.start({ routers: 3 });
  const session = openTop(80, 24);
  await session.shows('live');
  expect(session.terminal).toMatchObject({ isOtherScreen: true, hasCursor: false, wraps: false });
  expect(session.hasKeyboard).toBe(true);
  if (how === 'q') session.press('q');
  else session.ended.abort();
  expect(await session.result).toMatchObject({ code: how === 'q' ? 0 : 130, stderr: '' });
  expect(session.terminal).toMatchObject({ isOtherScreen: false, hasCursor: true, wraps: true, isStyled: false });
  expect(session.hasKeyboard).toBe(false);
});

test('a refused key leaves the terminal as it was, and the reason stands below', async () => {
  api = await FleetApi.start({ routers: 3 });
  api.refusals.push({ status: 401, headers: {} });
  const session = openTop(80, 24);
  expect(await session.result).toMatchObject({ code: 1, stderr: expect.stringContaining('401') as string });
  expect(session.terminal).toMatchObject({ isOtherScreen: false, hasCursor: true, wraps: true });
});

test('a wait for the rate limit is on the screen, and nothing else disturbs it', async () => {
  api = await FleetApi.start({ routers: 3 });
  api.refusals.push({ status: 429, headers: { 'retry-after': '1' } });
  const session = openTop(80, 24);
  await session.shows('the rate limit is reached; waiting 1 s');
  await session.shows('live');
  expect(session.text).not.toContain('rate limit');
  session.press('q');
  expect((await session.result).stderr).toBe('');
});

test('a stream that breaks is said, and comes back', async () => {
  api = await FleetApi.start({ routers: 3 });
  const session = openTop(80, 24);
  await session.shows('live');
  await waitUntil('the stream is open', () => api.streams.size === 1);
  for (const stream of api.streams) stream.destroy();
  await session.shows('connection lost, trying again');
  await session.shows('live');
});

test('text from routers and people never carries a terminal escape to the screen, with colour and without', async () => {
  for (const hasColour of [true, false]) {
    api = await FleetApi.start({ routers: 3, down: 2, work: 2, words: 'a\u001b]0;owned\u0007b\u009b31mc\u202Ed\re' });
    const session = openTop(80, 24, hasColour);
    await session.shows('owned');
    await waitUntil('the stream is open', () => api.streams.size === 1);
    api.publish('fault.opened', { router_id: 'x', severity: '\u001b[2J', message: 'x\u001b[?1049lowned too' });
    // The small terminal throws at every sequence that it does not know, and these two would empty it.
    await session.shows('owned too');
    expect(session.terminal).toMatchObject({ isOtherScreen: true, isStyled: false });
    session.press('q');
    await session.result;
    if (hasColour) await api.close();
  }
});

describe('when the output is not a terminal', () => {
  async function lines(words: string[], until: (text: string) => boolean, during?: () => void): Promise<string[]> {
    const ended = new AbortController();
    let text = '';
    const result = runSignalbox(words, { server: api.url, key: FLEET_KEY, signal: ended.signal, stdout: (part) => void (text += part) });
    await waitUntil('the stream is open', () => api.streams.size === 1);
    during?.();
    await waitUntil('it is printed', () => until(text));
    ended.abort();
    expect(await result).toMatchObject({ code: 130, stderr: '' });
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    return text.trimEnd().split('\n');
  }

  test('it prints the counts, and each event on a line', async () => {
    api = await FleetApi.start({ routers: 50, down: 2 });
    const printed = await lines(
      ['top'],
      (text) => text.includes('router.changed'),
      () => api.publish('router.changed', changed(0, 'answering')),
    );
    expect(printed[0]).toMatch(
      /^2031-05-01T08:30:0\dZ Routers 50 \(answering 48, not_answering 1, agent_away 1\); Agents 2 \(connected 1, away 1\); Open faults 0; /,
    );
    expect(printed[1]).toBe('08:30:00  router.changed  edge-berlin  answering  silence');
  });

  test('--json prints one object for each', async () => {
    api = await FleetApi.start({ routers: 50 });
    const printed = await lines(
      ['top', '--json'],
      (text) => text.includes('job.failed'),
      () => api.publish('job.failed', { job_id: 'j' }),
    );
    expect(JSON.parse(printed[0]!)).toMatchObject({ overview: { routers: { answering: 50 } } });
    expect(JSON.parse(printed[1]!)).toMatchObject({ event: { type: 'job.failed', data: { job_id: 'j' } } });
  });
});
