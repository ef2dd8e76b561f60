import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { AttackedServer, inventoryOf } from '../harness/attacked-server.ts';
import { startYardstick, watchHealth } from '../harness/health-watch.ts';
import type { Yardstick } from '../harness/health-watch.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** An answer of 16 MB, as large as one may be, made of parts that cost more than their text. */

let server: AttackedServer;
let yardstick: Yardstick;
/** Memory before the first attempt, bytes: a second one would find what the first has left, and compare with that. */
let atRest: number;
beforeAll(async () => {
  yardstick = await startYardstick();
  server = await AttackedServer.start();
  atRest = await server.memory();
});
afterAll(async () => {
  await server?.close();
  await yardstick.close();
});

/** A router whose agent answers every command with as many messages of these rows as one answer may have. */
async function routerThatAnswers(rows: string): Promise<{ ws: WebSocket; routerId: string; bytes: number }> {
  const ws = await server.tunnel(await server.enrol());
  const name = randomUUID();
  ws.send(JSON.stringify(inventoryOf(name)));
  const router = await waitUntil('the router is known', async () => (await server.routers()).find(({ identity }) => identity === name));
  const count = Math.floor(15_900_000 / (rows.length + 40));
  ws.on('message', (data) => {
    const message = JSON.parse((data as Buffer).toString()) as { type: string; id: number };
    if (message.type !== 'request') return;
    for (let i = 0; i < count; i += 1) ws.send(`{"type":"rows","id":${message.id},"rows":[${rows}]}`);
    ws.send(`{"type":"reply","id":${message.id},"outcome":{"ok":true,"result":{"method":"command"}}}`);
  });
  return { ws, routerId: router.id, bytes: count * rows.length };
}

// Kept as objects and written in one go, they took 900 MB and stopped everything for 2.7 s.
test('5 million empty rows cost little more memory than their text and block no other request', { retry: 2 }, async () => {
  const { ws, routerId, bytes } = await routerThatAnswers(Array(10_000).fill('{}').join(','));
  let most = atRest;
  const watch = setInterval(() => void server.memory().then((now) => (most = Math.max(most, now))), 50);
  try {
    const { worst, mayTake, figures } = await watchHealth({ url: server.url, barMs: 400, yardstick }, async () => {
      const answer = await server.call('POST', `/api/synchronous/${routerId}`, { command: '/ip/route/print', parameters: '' });
      expect(answer.status).toBe(200);
      expect((await answer.text()).length).toBeGreaterThan(bytes);
    });
    expect((most - atRest) / 1e6).toBeLessThan(450);
    expect(worst, figures).toBeLessThan(mayTake);
  } finally {
    clearInterval(watch);
    ws.terminate();
  }
});
