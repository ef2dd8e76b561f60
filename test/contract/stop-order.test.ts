import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer } from '../../server/compose/start.ts';
import type { RunningServer } from '../../server/compose/start.ts';
import { checkConfig } from '../../server/config.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

let folder: string;
let place: SeededRouter;
let server: RunningServer | undefined;

const databaseUrl = (): string => `sqlite:${folder}/signalbox.db`;
const start = (): Promise<RunningServer> =>
  startServer(
    checkConfig({
      SIGNALBOX_LISTEN: '127.0.0.1:0',
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl(),
      SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
    }),
    { log: silentLog, consoleFiles: null },
  );

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-stop-'));
  const storage = await openStorage(databaseUrl(), { log: silentLog });
  await migrate(storage);
  place = await seedRouter(storage, { now: Date.now() - 60_000 });
  await storage.close();
});
afterEach(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

test('a state that changes while the control plane stops is told to a reader that goes on after the restart', async () => {
  const { teamId, agentId, routerId } = place;
  server = await start();
  const { routers, states, events } = server.services;
  const connection = { agentId, teamId, epoch: 1, address: '::1', reset: false };
  await routers.onReady(connection);
  states.onReady(connection);
  const report = { name: `router ${routerId}`, reachable: true, uptime_seconds: null, reason: null };
  states.onHeartbeat(connection, { type: 'heartbeat', routers: [report] });
  expect(states.of(routerId)).toMatchObject({ state: 'answering' });
  const read = events.position(teamId);
  // An agent that does not take part in the closing keeps its session for five seconds: until after other features have stopped.
  const stop = states.stop.bind(states);
  states.stop = async () => {
    states.onGone(connection, { endedBy: 'left', at: Date.now(), lastHeardAt: Date.now() });
    await stop();
  };
  await server.close();

  server = await start();
  const stream = server.services.events.open({
    teamId,
    callerId: 'a',
    lastEventId: read,
    types: [],
    isStillAllowed: () => Promise.resolve(true),
  });
  const text = String(stream.read());
  stream.destroy();
  expect(text).not.toContain('event: resync');
  const shown = server.services.states.of(routerId)!;
  expect(shown.state).toBe('agent_away');
  const told = [...text.matchAll(/^event: router\.changed\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Record<string, unknown>);
  expect(told.at(-1)).toMatchObject({ router_id: routerId, state: shown.state, state_reason: shown.reason });
});
