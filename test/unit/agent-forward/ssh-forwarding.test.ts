import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ForwardingMemory } from '../../../agent/forward/forwarding-memory.ts';
import { SshForwarding } from '../../../agent/forward/ssh-forwarding.ts';
import { FakeRouter, HARDWARE_ID } from '../../harness/fake-router.ts';
import { silentLog } from '../../harness/silent-log.ts';

const SOON = { timeoutMs: 1000 };

let folder: string;
let memory: ForwardingMemory;
let forwarding: SshForwarding;
let router: FakeRouter;
let value: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ssh-forwarding-'));
  memory = new ForwardingMemory(folder);
  forwarding = new SshForwarding(memory, silentLog);
  router = new FakeRouter();
  value = 'no';
  router.onCommand = ({ path: command, words }) => {
    if (command === '/ip/ssh/set') value = words[0]!.split('=').at(-1)!;
    return { rows: command === '/ip/ssh/print' ? [{ 'forwarding-enabled': value }] : [] };
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('does not forget what has to be set back while it is not known which device answers', async () => {
  await forwarding.acquire(router, SOON);
  const unknown = vi.spyOn(router, 'state').mockReturnValue({ reachable: true, reason: null, facts: null });
  await forwarding.release(router);
  expect(value).toBe('local');
  expect(await memory.read(router.name)).toEqual({ previous: 'no', hardwareId: HARDWARE_ID });
  unknown.mockRestore();
  await forwarding.restore(router);
  expect(value).toBe('no');
  expect(await memory.read(router.name)).toBeUndefined();
});

it('switches nothing on at a device that it could not recognise later', async () => {
  vi.spyOn(router, 'state').mockReturnValue({ reachable: true, reason: null, facts: null });
  await expect(forwarding.acquire(router, SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
  expect(value).toBe('no');
});
