import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { freePort } from '../harness/installation.ts';
import { hasNats, NatsServer } from '../harness/nats-server.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

let folder: string;
let url: string;
let programs: ControlPlane[];

interface ControlPlane {
  program: Program;
  isReady: () => Promise<boolean>;
}

/** Starts a control plane on the one database. */
async function start(settings: Record<string, string> = {}): Promise<ControlPlane> {
  const port = await freePort();
  const program = new Program('server/main.ts', ['serve'], {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: url,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    ...settings,
  });
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
  program.start();
  programs.push({ program, isReady });
  return { program, isReady };
}

async function untilReady({ program, isReady }: ControlPlane): Promise<void> {
  await waitUntil('ready, or ended', async () => !program.isRunning || isReady());
  expect(program.isRunning, program.output).toBe(true);
}

async function settingsOf(nats: NatsServer): Promise<Record<string, string>> {
  const address = `127.0.0.1:${await freePort()}`;
  return { SIGNALBOX_BUS_URL: nats.url, SIGNALBOX_NODE_PUBLIC_URL: `http://${address}` };
}

describe.skipIf(!postgres)('a second control plane on a PostgreSQL database', () => {
  beforeEach(async () => {
    programs = [];
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-second-'));
    ({ url } = await postgres!.create());
  });
  afterEach(async () => {
    for (const { program } of programs) await program.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test('is refused within 6 s and names the first, which is not disturbed', async () => {
    const began = performance.now();
    const first = await start();
    await untilReady(first);
    const startMs = performance.now() - began;
    const { pid } = first.program;
    const startedAt = performance.now();
    const second = await start();
    expect(await second.program.ended()).toBe(1);
    expect(second.program.output).toContain(`another control plane serves this database: ${os.hostname()}, process ${pid}, version`);
    // Loading the program takes seconds of that on a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(startMs + 6000);
    expect(await first.isReady()).toBe(true);
    expect(await first.program.stop()).toBe(0);
  });

  test.skipIf(!hasNats())('serves beside the first when both have the settings for several', async () => {
    const nats = await NatsServer.start();
    try {
      const first = await start(await settingsOf(nats));
      await untilReady(first);
      const second = await start(await settingsOf(nats));
      await untilReady(second);
      expect(await first.isReady()).toBe(true);
      // One that knows nothing of several is refused all the same.
      const alone = await start();
      expect(await alone.program.ended()).toBe(1);
      expect(alone.program.output).toContain('another control plane serves this database');
      expect(await Promise.all([first, second].map(({ program }) => program.stop()))).toEqual([0, 0]);
    } finally {
      await nats.close();
    }
  });

  test('of two that start at the same moment one serves', async () => {
    const both = [await start(), await start()];
    await waitUntil('one has ended', () => both.some(({ program }) => !program.isRunning));
    const [winner] = both.filter(({ program }) => program.isRunning);
    await untilReady(winner!);
    expect(await winner!.program.stop()).toBe(0);
  });

  test('takes over at once after a stop', async () => {
    const first = await start();
    await untilReady(first);
    expect(await first.program.stop()).toBe(0);
    await untilReady(await start());
  });

  test('takes over at once after a crash on the same machine', async () => {
    const first = await start();
    await untilReady(first);
    await first.program.kill();
    const second = await start();
    await untilReady(second);
    expect(second.program.output).toContain('the control plane before this one was killed');
  });

  test('takes over from one that has been frozen for 10 s, which ends when it goes on', async () => {
    const frozen = await start();
    await untilReady(frozen);
    frozen.program.signal('SIGSTOP');
    const next = await start();
    await untilReady(next);
    frozen.program.signal('SIGCONT');
    expect(await frozen.program.ended()).toBe(1);
    expect(frozen.program.output).toContain('another control plane has taken over the database');
    expect(await next.isReady()).toBe(true);
  });
});
