import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProcessWorld } from '../harness/process-world.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { hasPython, TerminalSession } from '../harness/terminal-session.ts';
import { hasSession } from '../harness/terminal-world.ts';
import type { ShownTerminal } from '../harness/terminal-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

/**
 * Control plane, agent and command line as processes, killed (SIGKILL) while a terminal is open: what becomes of the shell on the router, of
 * the record and of the recording.
 */

let world: ProcessWorld;
let routerId: string;
beforeEach(async () => {
  world = await ProcessWorld.start({ terminal: 'full' });
  routerId = world.routerIds[0]!;
});
afterEach(() => world.close());

const LINES = 300;
const COUNTING = `:for i from=1 to=${LINES} do={:put "line $i"; :delay 10ms}\r`;

async function open(): Promise<ShownTerminal> {
  // An agent that has just come back may still be on its way.
  return waitUntil('the agent opens a terminal', async () => {
    const wanted = { level: 'full', reason: 'somebody is about to be killed' };
    const answer = world.call<{ data: ShownTerminal }>('POST', `/api/routers/${routerId}/terminals`, wanted);
    return answer.then(
      ({ data }) => data,
      (error: unknown) => {
        if (!String(error).includes(': 503')) throw error;
        return undefined;
      },
    );
  });
}

const read = async (id: string): Promise<ShownTerminal> => (await world.call<{ data: ShownTerminal }>('GET', `/api/terminals/${id}`)).data;

const ended = (id: string): Promise<ShownTerminal> =>
  waitUntil('the record says that it has ended', async () => {
    const now = await read(id);
    return now.status === 'ended' ? now : undefined;
  });

const isOnRouter = (): boolean => hasSession(world, 'term-full');

/** The numbers of the lines that stand in a recording, as often as they stand there. */
async function recordedLines(id: string): Promise<number[]> {
  const answer = await fetch(`${world.url}/api/terminals/${id}/recording`, { headers: { authorization: `Bearer ${world.apiKey}` } });
  const [, ...events] = (await answer.text()).trim().split('\n');
  const text = events.map((line) => (JSON.parse(line) as [number, string, string])[2]).join('');
  return [...text.matchAll(/\r\nline (\d+)(?=\r\n)/g)].map(([, number]) => Number(number));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('the agent is killed: the shell ends with it, the client is told, the record says why, and what was printed is recorded', async () => {
  const opened = await open();
  const client = await TerminalClient.attach(world.url, opened);
  client.type(COUNTING);
  await client.sees(/\r\nline 20\r\n/);
  await world.agent.kill();
  await waitUntil('the client is told that the agent is away', async () => client.messages.some((message) => message['away'] === true));
  await waitUntil('the router has no session of it', async () => !isOnRouter());
  expect((await read(opened.id)).status).toBe('open');
  world.agent.start();
  expect(await client.ending()).toMatchObject({ reason: 'shell_gone' });
  expect(await ended(opened.id)).toMatchObject({ end_reason: 'shell_gone', recording: 'kept' });
  const seen = [...client.plain.matchAll(/\r\nline (\d+)(?=\r\n)/g)].map(([, number]) => Number(number));
  expect(seen).toEqual(upTo(seen.length));
  expect(await recordedLines(opened.id)).toEqual(seen);
  // The way is free for another one.
  const again = await open();
  await (await TerminalClient.attach(world.url, again)).sees('[term-full@router-0] >');
});

test('the control plane is killed: the shell waits, the person attaches again, and nothing is missing on the screen or in the recording', async () => {
  const opened = await open();
  const client = await TerminalClient.attach(world.url, opened);
  client.type(COUNTING);
  await client.sees(/\r\nline 20\r\n/);
  await world.server.kill();
  await waitUntil('the client has lost its connection', async () => client.closed);
  expect(isOnRouter()).toBe(true);
  await world.startServer();
  const ticket = await waitUntil('the terminal is there again', async () => {
    const { data } = await world.call<{ data: ShownTerminal }>('POST', `/api/terminals/${opened.id}/tickets`);
    return data.away ? undefined : data;
  });
  const second = await TerminalClient.attach(world.url, ticket);
  await second.sees(`\r\nline ${LINES}\r\n`);
  second.type(':put "and on"\r');
  await second.sees(/\r\nand on\r\n/);
  second.type('quit\r');
  expect(await ended(opened.id)).toMatchObject({ end_reason: 'exited' });
  expect(await recordedLines(opened.id)).toEqual(upTo(LINES));
  await waitUntil('the router has no session of it', async () => !isOnRouter());
});

test('agent and control plane are killed together: the record ends, and the recording has what was stored', async () => {
  const opened = await open();
  const client = await TerminalClient.attach(world.url, opened);
  client.type(':put "before the end"\r');
  await client.sees(/\r\nbefore the end\r\n/);
  await waitUntil('the output is stored', async () => (await read(opened.id)).output_bytes >= client.bytes);
  await Promise.all([world.agent.kill(), world.server.kill()]);
  await waitUntil('the router has no session of it', async () => !isOnRouter());
  await world.startServer();
  expect((await read(opened.id)).status).toBe('open');
  world.agent.start();
  expect(await ended(opened.id)).toMatchObject({ end_reason: 'shell_gone', recording: 'kept', output_bytes: client.bytes });
});

describe.runIf(hasPython)('the command line is killed', () => {
  test('the shell stays for the next call, which shows what was there and what came meanwhile', async () => {
    const env = { SIGNALBOX_SERVER: world.url, SIGNALBOX_KEY: world.apiKey };
    const words = ['terminal', 'router-0', '--level', 'full', '--reason', 'it is about to be killed'];
    const first = new TerminalSession(80, 24, env, words);
    await first.shows('[term-full@router-0] >');
    first.press(COUNTING);
    await first.shows('line 20\r');
    first.kill();
    expect(await first.end()).toBe(-9);
    await first.close();
    const { data } = await world.call<{ data: ShownTerminal[] }>('GET', '/api/terminals?status=open');
    const { id } = data[0]!;
    await waitUntil('nobody is attached', async () => !(await read(id)).attached);
    expect(isOnRouter()).toBe(true);
    const second = new TerminalSession(80, 24, env, words);
    await second.shows('attaching to it');
    await second.shows('line 1\r');
    await second.shows(`line ${LINES}\r`);
    second.press('quit\r');
    expect(await second.end()).toBe(0);
    await second.close();
    expect(await ended(id)).toMatchObject({ end_reason: 'exited' });
    expect(await recordedLines(id)).toEqual(upTo(LINES));
  });
});
