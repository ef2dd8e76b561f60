import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../agent/core/clock.ts';
import { AgentError } from '../../../agent/core/errors.ts';
import { ForwardingMemory } from '../../../agent/forward/forwarding-memory.ts';
import { SshForwarding } from '../../../agent/forward/ssh-forwarding.ts';
import { FakeRouter } from '../../harness/fake-router.ts';
import { silentLog } from '../../harness/silent-log.ts';

const SOON = { timeoutMs: 1000 };

const makeForwarding = (): SshForwarding =>
  new SshForwarding({
    memory: new ForwardingMemory(folder),
    log: silentLog,
    clock: systemClock,
    agentTag: () => Promise.resolve('signalbox-test'),
  });

let folder: string;
let memory: ForwardingMemory;
let forwarding: SshForwarding;
let router: FakeRouter;
/** The device that answers, and `forwarding-enabled` of each. */
let device: 'R1' | 'R2';
let values: { R1: string; R2: string };

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'ssh-forwarding-'));
  memory = new ForwardingMemory(folder);
  forwarding = makeForwarding();
  router = new FakeRouter();
  device = 'R1';
  values = { R1: 'no', R2: 'no' };
  const real = router.state();
  vi.spyOn(router, 'state').mockImplementation(() => ({ ...real, facts: { ...real.facts!, hardwareId: device } }));
  router.onCommand = ({ path: command, words }) => {
    if (command === '/ip/ssh/set') values[device] = words[0]!.split('=').at(-1)!;
    return { rows: command === '/ip/ssh/print' ? [{ 'forwarding-enabled': values[device] }] : [] };
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const recordOf = (hardwareId: string): Promise<unknown> => memory.read({ router: router.name, hardwareId });
const files = (): Promise<string[]> => readdir(path.join(folder, 'ssh-forwarding'));

it('keeps the value to restore while it is unknown which device answers', async () => {
  const acquired = await forwarding.acquire(router, 600_000, SOON);
  vi.mocked(router.state).mockReturnValueOnce({ reachable: true, reason: null, facts: null });
  await forwarding.release(router, acquired);
  expect(values.R1).toBe('local');
  expect(await recordOf('R1')).toEqual({ previous: 'no', set: 'local', hardwareId: 'R1' });
  await forwarding.restore(router);
  expect(values.R1).toBe('no');
  expect(await files()).toEqual([]);
});

describe('a device that is replaced', () => {
  it('is restored when it answers again, even if its forwards ended while another device answered', async () => {
    const acquired = await forwarding.acquire(router, 600_000, SOON);
    device = 'R2';
    await forwarding.release(router, acquired);
    expect(values).toEqual({ R1: 'local', R2: 'no' });
    device = 'R1';
    await forwarding.restore(router);
    expect(values).toEqual({ R1: 'no', R2: 'no' });
    expect(await files()).toEqual([]);
  });

  it('does not affect its replacement, which is restored too', async () => {
    values.R2 = 'remote';
    const first = await forwarding.acquire(router, 600_000, SOON);
    device = 'R2';
    const second = await forwarding.acquire(router, 600_000, SOON);
    expect(values).toEqual({ R1: 'local', R2: 'both' });
    await forwarding.release(router, first);
    expect(values.R2).toBe('both');
    await forwarding.release(router, second);
    expect(values).toEqual({ R1: 'local', R2: 'remote' });
    device = 'R1';
    await makeForwarding().restore(router);
    expect(values).toEqual({ R1: 'no', R2: 'remote' });
  });

  it('is not confused with the device whose value was read before', async () => {
    const answer = router.onCommand;
    router.onCommand = (command) => {
      const reply = answer(command);
      device = 'R2';
      return reply;
    };
    await expect(forwarding.acquire(router, 600_000, SOON)).rejects.toMatchObject({ code: 'wrong_router' });
    expect(values).toEqual({ R1: 'no', R2: 'no' });
  });
});

describe('a record of an older agent, which kept one for each name', () => {
  async function writeOld(record: { previous: string; hardwareId: string }): Promise<void> {
    await mkdir(path.join(folder, 'ssh-forwarding'));
    await writeFile(path.join(folder, 'ssh-forwarding', `${router.name}.json`), JSON.stringify(record));
  }

  it('is read for its device, and removed once that is restored', async () => {
    await writeOld({ previous: 'no', hardwareId: 'R1' });
    values.R1 = 'local';
    await forwarding.restore(router);
    expect(values.R1).toBe('no');
    expect(await files()).toEqual([]);
  });

  it('is kept while another device answers, even if that one is restored', async () => {
    await writeOld({ previous: 'no', hardwareId: 'R1' });
    values.R1 = 'local';
    device = 'R2';
    await forwarding.release(router, await forwarding.acquire(router, 600_000, SOON));
    expect(values).toEqual({ R1: 'local', R2: 'no' });
    device = 'R1';
    await forwarding.restore(router);
    expect(values.R1).toBe('no');
  });

  it('without a device restores nothing', async () => {
    await writeOld({ previous: 'no', hardwareId: '' });
    values.R1 = 'local';
    await forwarding.restore(router);
    expect(values.R1).toBe('local');
  });
});

it('switches nothing on at a device that it could not identify later', async () => {
  vi.mocked(router.state).mockReturnValue({ reachable: true, reason: null, facts: null });
  await expect(forwarding.acquire(router, 600_000, SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
  expect(values.R1).toBe('no');
});

it('switches nothing on while its disk is full, reports the reason, and leaves no partial file', async () => {
  await mkdir(path.join(folder, 'ssh-forwarding'));
  await symlink('/dev/full', path.join(folder, 'ssh-forwarding', `${router.name}@R1.json.new`));
  await expect(forwarding.acquire(router, 600_000, SOON)).rejects.toMatchObject({
    code: 'internal',
    message: "the agent's state folder cannot be written: no space left on device (ENOSPC)",
  });
  expect(values.R1).toBe('no');
  expect(await files()).toEqual([]);
  expect(await forwarding.acquire(router, 600_000, SOON)).toEqual({ router: router.name, hardwareId: 'R1' });
});

it('names the command that the router refused', async () => {
  router.onCommand = ({ path: command }) => {
    if (command === '/ip/ssh/set') throw new AgentError('rejected', 'not enough permissions (9)');
    return { rows: [{ 'forwarding-enabled': 'no' }] };
  };
  await expect(forwarding.acquire(router, 600_000, SOON)).rejects.toMatchObject({
    code: 'rejected',
    message: 'not enough permissions (9) (/ip/ssh/set)',
  });
});
