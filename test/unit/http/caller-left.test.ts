import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EventsService } from '../../../server/outbound/events/service.ts';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { eventually } from '../../harness/wait-until.ts';

let app: App;
let logged: { level: number; msg: string }[];
let events: EventsService;
let opened: Readable[];
let lastEventId: string | undefined;
/** A route is entered, and goes on when the test says so. */
let entered: PromiseWithResolvers<void>;
let gate: PromiseWithResolvers<void>;
let left: PromiseWithResolvers<void>;

beforeEach(async () => {
  logged = [];
  opened = [];
  lastEventId = undefined;
  [entered, gate, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  events = new EventsService({ clock: new ManualClock(), log: silentLog });
  app = createApp({ log: pino({ level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line)) }), now: () => Date.now() });
  const answers: Record<string, () => Readable> = {
    '/events': () => events.open({ teamId: 't', callerId: 'c', lastEventId, types: [], isStillAllowed: () => Promise.resolve(true) }),
    '/file': () => Readable.from(['a'.repeat(1000), 'b']),
    '/broken': () =>
      new Readable({
        read() {
          this.destroy(new Error('the disk is broken'));
        },
      }),
  };
  for (const [path, open] of Object.entries(answers))
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      entered.resolve();
      reply.raw.once('close', () => left.resolve());
      await gate.promise;
      const stream = open();
      opened.push(stream);
      return reply.type('text/event-stream').send(stream);
    });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

const ask = (path: string): http.ClientRequest => {
  const { port } = app.server.address() as AddressInfo;
  return http.get({ host: '127.0.0.1', port, path }).on('error', () => undefined);
};
const errors = (): string[] => logged.filter(({ level }) => level >= 50).map(({ msg }) => msg);

test.each(['/events', '/file'])('a client that leaves while %s opens is no failure of the server', async (path) => {
  const request = ask(path);
  await entered.promise;
  request.destroy();
  await left.promise;
  gate.resolve();
  await eventually(() => expect(opened.at(-1)?.destroyed).toBe(true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors()).toEqual([]);
  expect(events.openStreams).toBe(0);
});

test('a reader that missed more than its stream may hold is asked to read everything again', async () => {
  const before = events.position('t');
  // As many as are remembered, of usual size.
  for (let n = 0; n < 1000; n += 1) events.publish({ teamId: 't', type: 'router.changed', data: { n, text: 'x'.repeat(300) } });
  lastEventId = before;
  const request = ask('/events');
  gate.resolve();
  const answer = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
  let text = '';
  answer.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
  try {
    expect(answer.statusCode).toBe(200);
    await eventually(() => expect(text).toContain('event: resync'));
    expect(errors()).toEqual([]);
  } finally {
    request.destroy();
  }
});

test('a stream that breaks while its client waits is a failure of the server', async () => {
  const request = ask('/broken');
  gate.resolve();
  const status = await new Promise((resolve) => request.once('response', (answer) => resolve(answer.resume().statusCode)));
  expect(status).toBe(500);
  expect(errors()).toEqual(['request failed']);
});
