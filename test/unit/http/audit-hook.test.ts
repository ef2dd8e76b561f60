import net from 'node:net';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { reportWrites } from '../../../server/platform/http/audit-hook.ts';
import type { WriteRecord } from '../../../server/platform/http/audit-hook.ts';
import { identifyCaller } from '../../../server/platform/http/authentication.ts';

let app: App;
afterEach(async () => app.close());

test('a caller who disconnects before the response is recorded with the source address', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<WriteRecord>();
  app = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });
  identifyCaller(app, async () => ({ kind: 'api_key', id: 'k', teamId: 't', role: 'admin' }));
  reportWrites(app, recorded.resolve, () => performance.now());
  app.post('/things', async () => {
    asked.resolve();
    await answer.promise;
    return {};
  });
  const connections = new Set<net.Socket>();
  app.server.on('connection', (connection: net.Socket) => connections.add(connection));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = net.connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST /things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nContent-Length: 0\r\n\r\n');
  await asked.promise;
  const [server] = [...connections];
  // Not `once`, which would reject with the reset itself.
  const gone = new Promise((resolve) => server!.on('close', resolve));
  socket.resetAndDestroy();
  await gone;
  answer.resolve();
  expect(await recorded.promise).toMatchObject({ team_id: 't', action: 'POST /things', source: '127.0.0.1' });
});

test('a caller over the rate limit causes one record a minute, and every admitted request is recorded', async () => {
  const records: WriteRecord[] = [];
  let now = 0;
  let status = 429;
  app = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });
  identifyCaller(app, async (bearer) => ({ kind: 'api_key', id: bearer, teamId: 't', role: 'admin' }));
  reportWrites(
    app,
    (record) => records.push(record),
    () => now,
  );
  app.post('/things', async (_request, reply) => reply.code(status).send({}));
  const ask = (bearer: string) => app.inject({ method: 'POST', url: '/things', headers: { authorization: `Bearer ${bearer}` } });
  for (let i = 0; i < 20; i += 1) await ask('loud');
  await ask('other');
  expect(records.map(({ actor_id }) => actor_id)).toEqual(['loud', 'other']);
  now = 60_000;
  await ask('loud');
  expect(records).toHaveLength(3);
  status = 422;
  for (let i = 0; i < 5; i += 1) await ask('loud');
  expect(records).toHaveLength(8);
});
