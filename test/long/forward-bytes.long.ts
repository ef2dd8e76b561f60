import process from 'node:process';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { API, DIRECT, exchangeAtOnce, oneAfterAnother, SSH, stallReaders } from '../harness/forward-traffic.ts';
import { hasOpensshServer } from '../harness/openssh-server.ts';
import { ProcessWorld } from '../harness/process-world.ts';

/** What test/e2e/forward-bytes.test.ts does in seconds, at length: ten minutes or so on two cores. */
const GIGABYTE = 1_000_000_000;
const MINUTES = 60_000;

let world: ProcessWorld;

beforeAll(async () => {
  if (!hasOpensshServer) process.stderr.write('sshd is not installed: the ssh way is not tested with it\n');
  world = await ProcessWorld.start({
    routers: [{ ways: { api: true, ssh: hasOpensshServer ? 'openssh' : 'simulated' } }, { ways: { api: true } }],
  });
});
afterAll(() => world?.close());

describe.each([DIRECT, SSH, API])('by the $way way', (place) => {
  test(
    'one connection carries 1 GB each way unchanged',
    async () => {
      await exchangeAtOnce(world, place, { connections: 1, bytes: GIGABYTE });
    },
    10 * MINUTES,
  );

  test(
    '64 connections at once carry 1 GB each way unchanged',
    async () => {
      await exchangeAtOnce(world, place, { connections: 64, bytes: GIGABYTE / 64 });
    },
    10 * MINUTES,
  );

  test(
    'readers that stall for a minute use bounded memory and delay no other connection',
    async () => {
      await stallReaders(world, place, { readers: 16, forMs: MINUTES, mostBytesEach: 4_000_000 });
    },
    3 * MINUTES,
  );

  test(
    '10,000 consecutive connections leak nothing',
    async () => {
      await oneAfterAnother(world, place, { warmUp: 10_000, connections: 10_000, mostGrowth: 64_000_000 });
    },
    10 * MINUTES,
  );
});
