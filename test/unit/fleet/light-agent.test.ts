import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LightAgent } from '../../../scripts/fleet/light-agent.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Of the ceiling of each pause, so that they can be told from all other timers: 13.7 ms of the first second. */
const SHARE = 0.0137;

const server = createServer();
server.on('upgrade', (_request, socket) => {
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
});

beforeEach(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));

afterEach(async () => {
  vi.restoreAllMocks();
  await new Promise((resolve) => server.close(resolve));
});

test('an agent that starts again pauses between its dials as a new process does, whatever happened before', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  /** Ceilings of the pauses so far, seconds. */
  const ceilings = () =>
    timers.mock.calls.flatMap(([, ms = 0]) => {
      const seconds = ms / SHARE / 1000;
      return seconds > 0.5 && Math.abs(seconds - Math.round(seconds)) < 1e-9 ? [Math.round(seconds)] : [];
    });
  const agent = new LightAgent(
    {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { agent_id: 'a', secret: 's' },
      routers: [],
      behaviour: { flapping: false, silent: false, slow: false },
      random: () => SHARE,
      localAddress: undefined,
    },
    { ready: 0, dials: 0, refused: 0, requests: 0 },
  );
  agent.start();
  await waitUntil('it was refused three times', () => ceilings().length === 3);
  agent.stop();
  agent.start();
  await waitUntil('it was refused again', () => ceilings().length === 4);
  agent.stop();
  expect(ceilings()).toEqual([1, 2, 4, 1]);
});
