import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { World } from '../harness/world.ts';

/** From an agent that goes away to the message that tells it, and to the one that tells its end: real server, agent and receiver. */

interface Told {
  type: string;
  data: { thread: { id: string; subject: { type: string } } };
}

let world: World;
let receiver: WebhookReceiver;

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  world = await World.start();
  await world.routerIds();
});
afterEach(async () => {
  await world.close();
  await receiver.close();
});

async function made(url: string, body: object): Promise<string> {
  const answer = await world.caller.call<{ data: { id: string } }>('POST', url, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.id;
}

async function target(): Promise<string> {
  const id = await made('/api/notification-targets', { name: 'Ops', channel: 'webhook', address: { url: `${receiver.url}/ops` } });
  await world.caller.call('POST', `/api/notification-targets/${id}/send-code`);
  const { data } = JSON.parse(receiver.received.at(-1)!.body) as { data: { thread: { subject: { code: string } } } };
  const proved = await world.caller.call('POST', `/api/notification-targets/${id}/verify`, { code: data.thread.subject.code });
  expect(proved.status, JSON.stringify(proved.body)).toBe(200);
  receiver.received.length = 0;
  return id;
}

const told = (): Told[] => receiver.received.map(({ body }) => JSON.parse(body) as Told);

test('an agent that goes away and comes back is told once each time, in one thread', async () => {
  const topics = [await made('/api/topics', { name: 'Outages', events: ['fault.*'] })];
  const group = await world.caller.call('POST', '/api/groups', { name: 'Ops', topics, targets: [await target()] });
  expect(group.status, JSON.stringify(group.body)).toBe(200);
  await world.agent?.close();
  const [opened] = await waitUntil('the opening is told', () => (told().length > 0 ? told() : undefined));
  expect(opened).toMatchObject({ type: 'notification.open', data: { thread: { subject: { type: 'agent' } } } });
  await world.startAgent();
  await waitUntil('the end is told', () => (told().length > 1 ? true : undefined));
  expect(told().map(({ type }) => type)).toEqual(['notification.open', 'notification.resolve']);
  expect(told()[1]!.data.thread.id).toBe(opened!.data.thread.id);
});
