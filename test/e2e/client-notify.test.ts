import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../client/cli/run.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { World } from '../harness/world.ts';

/** The commands about notifications, against a real control plane and a receiver of webhooks. */

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

let world: World;
let home: string;
let receiver: WebhookReceiver;
let identity: string;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  world = await World.start();
  const [routerId] = await world.routerIds();
  identity = (await world.caller.call<{ data: { identity: string } }>('GET', `/api/routers/${routerId}`)).body.data.identity;
  home = await mkdtemp(path.join(os.tmpdir(), 'signalbox-home-'));
  const topics = [await made('/api/topics', { name: 'All', events: ['*'] })];
  const targets = [await proved(), await made('/api/notification-targets', hook('Old', '/old'))];
  await made('/api/groups', { name: 'On call', topics, targets: [targets[0]] });
  await made('/api/groups', { name: 'Both', topics, targets, mute: 'always' });
  await made('/api/groups', { name: 'Deaf', targets });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
  await rm(home, { recursive: true });
});

const hook = (name: string, where: string) => ({ name, channel: 'webhook', address: { url: `${receiver.url}${where}` } });

async function made(url: string, body: object): Promise<string> {
  const answer = await world.caller.call<{ id?: string; data?: { id: string } }>('POST', url, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return (answer.body.data?.id ?? answer.body.id)!;
}

async function proved(): Promise<string> {
  const id = await made('/api/notification-targets', hook('Chat', '/chat'));
  await world.caller.call('POST', `/api/notification-targets/${id}/send-code`);
  const { data } = JSON.parse(receiver.received.at(-1)!.body) as { data: { thread: { subject: { code: string } } } };
  const { status } = await world.caller.call('POST', `/api/notification-targets/${id}/verify`, { code: data.thread.subject.code });
  expect(status).toBe(200);
  receiver.received.length = 0;
  return id;
}

async function run(...words: string[]): Promise<Ran> {
  const ran = { stdout: '', stderr: '' };
  const code = await runCli(words, {
    stdout: (text) => void (ran.stdout += text),
    stderr: (text) => void (ran.stderr += text),
    readInput: async () => '',
    env: { HOME: home, SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey },
    signal: new AbortController().signal,
    columns: Infinity,
  });
  return { code, ...ran };
}

async function json<T>(...words: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

test('notify test says who got it, and fails when somebody did not', async () => {
  const reached = await run('notify', 'test', 'On call');
  expect(reached, reached.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^TO +CHANNEL +STATE +ANSWER\nChat +webhook +sent +-\n$/),
  });
  expect(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['notification.test']);
  const missed = await run('notify', 'test', 'Both', '--json');
  expect(missed.code).toBe(1);
  const { messages } = JSON.parse(missed.stdout) as { messages: { state: string; reason: string | null }[] };
  expect(messages.map(({ state, reason }) => reason ?? state).toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
    'sent',
    'unverified',
  ]);
  expect(await run('notify', 'test', 'Nobody')).toMatchObject({ code: 2, stderr: expect.stringContaining('no group is called Nobody') });
  expect(await run('notify', 'test')).toMatchObject({ code: 2, stderr: expect.stringContaining('GROUP is missing') });
});

test('notify explain says who would be told, and why the others would not', async () => {
  const { code, stdout } = await run('notify', 'explain', 'fault.wan_down', identity);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^On call +Chat +webhook +sent/m);
  expect(stdout).toMatch(/^Both +Old +webhook +withheld: muted/m);
  expect(stdout).toMatch(/^Deaf +- +- +withheld: other_kinds/m);
  const groups = await json<{ group: string; hears: boolean }[]>('notify', 'explain', 'fault.wan_down', identity);
  expect(groups.filter(({ hears }) => hears)).toHaveLength(2);
  expect(await run('notify', 'explain', 'fault.wan_down', 'nowhere')).toMatchObject({ code: 1 });
});

test('notify channels names what the operator sets for a channel that cannot be used', async () => {
  const { code, stdout } = await run('notify', 'channels');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^CHANNEL +READY +TO SET\n/);
  expect(stdout).toMatch(/^webhook +yes +-$/m);
  expect(stdout).toMatch(/^sms +no +SIGNALBOX_SMS_ACCOUNT, SIGNALBOX_SMS_TOKEN_FILE, SIGNALBOX_SMS_FROM$/m);
  expect(await json('notify', 'channels')).toMatchObject({ private_networks: expect.any(Boolean) });
});

test('notify silence, silences and unsilence', async () => {
  const made = await run('notify', 'silence', '--router', identity, '--minutes', '30', '--reason', 'New power supply');
  expect(made.stdout).toMatch(new RegExp(`^of +${identity}$`, 'm'));
  expect((await run('notify', 'explain', 'fault.wan_down', identity)).stdout).toMatch(/^On call +Chat +webhook +withheld: silenced/m);
  const [silence] = await json<{ id: string; reason: string; active_now: boolean }[]>('notify', 'silences');
  expect(silence).toMatchObject({ reason: 'New power supply', active_now: true });
  expect((await run('notify', 'silences')).stdout).toContain(identity);
  expect(await run('notify', 'unsilence', silence!.id)).toMatchObject({ code: 0, stdout: `silence ${silence!.id} is ended\n` });
  expect((await run('notify', 'silences')).stdout).toBe('no silences\n');
  expect(await run('notify', 'silence', '--minutes', '30')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--reason is missing'),
  });
});

test('notify threads, acknowledge and log follow an outage', async () => {
  await world.agent?.close();
  const [thread] = await waitUntil('the outage is told', async () => {
    const found = await json<{ id: string; told_at: string | null }[]>('notify', 'threads', '--state', 'open', '--group', 'On call');
    return found[0]?.told_at ? found : undefined;
  });
  const listed = await run('notify', 'threads', '--state', 'open', '--group', 'On call');
  expect(listed.stdout).toMatch(/^ID +SINCE +STATE +SEVERITY +GROUP +SUBJECT +TAKEN OVER BY\n/);
  expect(listed.stdout).toContain(thread!.id);
  const taken = await run('notify', 'acknowledge', thread!.id, '--minutes', '60');
  expect(taken, taken.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^taken over by +test$/m) });
  const shown = await waitUntil('the log has the sent message', async () => {
    const { stdout } = await run('notify', 'log', '--group', 'On call', '--state', 'sent');
    return /agent away/.test(stdout) ? stdout : undefined;
  });
  expect(shown).toMatch(/^AT +GROUP +TO +CHANNEL +SAYS +STATE +ANSWER\n/);
  const muted = await json<{ group: string; reason: string }[]>('notify', 'log', '--reason', 'muted');
  expect(muted.every(({ group, reason }) => group === 'Both' && reason === 'muted')).toBe(true);
  expect(muted.length).toBeGreaterThan(0);
  expect((await run('notify', 'log', '--limit', '1')).stdout).toMatch(/\n1 of \d+ messages\n$/);
  expect(await run('notify', 'log', '--state', 'lost')).toMatchObject({ code: 1, stderr: expect.stringContaining('state') });
  await world.startAgent();
});
