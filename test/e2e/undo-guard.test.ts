import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fastTime } from '../harness/fast-time.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** Scripts that lock everybody out, on routers that were told to undo them. Router time runs ten times as fast. */

interface Job extends Record<string, unknown> {
  status: string;
  phase: string;
  reason: string | null;
  error: string | null;
}

const GUARD_SECONDS = 60;
const users = [
  { name: 'signalbox', password: 'router-password', group: 'full' },
  { name: 'boss', password: 'x', group: 'full' },
];

const LOCK_OUTS: Record<string, string> = {
  'removes its address': '/ip address remove [find]',
  'drops what comes in': '/ip firewall filter add chain=input action=drop place-before=0',
  'disables the services': '/ip service set api disabled=yes; /ip service set ssh disabled=yes',
  'removes the user': '/user remove [find name=signalbox]',
  'changes the password': '/user set [find name=signalbox] password=other',
  'takes the rights away': '/user set [find name=signalbox] group=read',
  'locks out and reboots': '/ip service set api disabled=yes; /ip service set ssh disabled=yes; /system reboot',
  'changes the clock and locks out': '/system clock set date=2031-01-01 time=00:00:00; /ip address remove [find]',
};

const ROUTERS: Record<string, Partial<SimulatorOptions>> = {
  '7.18.2': { version: '7.18.2' },
  '6.49.10': { version: '6.49.10' },
  '7.18.2 by SSH alone': { version: '7.18.2', apiPort: null },
};

const CASES = Object.entries(ROUTERS).flatMap(([router, options]) =>
  Object.entries(LOCK_OUTS).map(([what, script], index) => ({
    name: `RouterOS ${router} ${what}`,
    // One of them has never heard the time.
    options: { ...options, users, ...(index === 0 ? { clock: 'unset' } : {}) },
    script: options.version?.startsWith('6') === true ? script.replace('2031-01-01', 'jan/01/2031') : script,
  })),
);

describe('an undo guard', () => {
  let world: World;
  let routerIds: string[];
  let jobs: string[];

  const read = async (index: number): Promise<Job> =>
    (await world.caller.call<{ data: Job }>('GET', `/api/routers/${routerIds[index]}/jobs/${jobs[index]}`)).body.data;

  beforeAll(async () => {
    world = await World.start({ routers: CASES.map(({ options }) => ({ ...options, time: fastTime(10) })) });
    routerIds = await world.routerIds();
    jobs = await Promise.all(CASES.map(({ script }, index) => submit(world, routerIds[index]!, script)));
  });

  afterAll(() => world.close());

  it.each(CASES.map(({ name }, index) => ({ name, index })))('restores a router when the script $name', async ({ index }) => {
    const simulator = world.simulators[index]!;
    const job = await waitUntil('the job ends', async () => {
      const now = await read(index);
      return now.phase === 'done' || now.phase === 'unknown' ? now : undefined;
    });
    expect(job).toMatchObject({ status: 'failed', reason: 'rolled_back', guard: { state: 'fired', armed_at: expect.any(String) } });
    await waitUntil('nothing is left', () => leftOn(simulator).length === 0);
    expect(simulator.log).toContain('router rebooted');
    expect(simulator.items('/ip/address').map((row) => row['address'])).toContain('192.168.88.1/24');
    expect(simulator.items('/user')).toMatchObject([{ group: 'full' }, { group: 'full' }]);
    expect(simulator.executions.filter((run) => run.kind === 'script')).toHaveLength(1);
  });
});

describe('an undo guard of a harmless script', () => {
  it.each(Object.entries(ROUTERS))('is disarmed on RouterOS %s and leaves nothing behind', async (_name, options) => {
    await withWorld(options, async (world, routerId) => {
      const job = await finish(world, routerId, await submit(world, routerId, '/system identity set name=renamed; :put done'));
      expect(job).toMatchObject({ status: 'completed', reason: null, undo_unless_reachable_seconds: GUARD_SECONDS });
      expect(job).toMatchObject({ guard: { state: 'disarmed', armed_at: expect.stringMatching(/Z$/), fires_in_s: null } });
      const path = `/api/routers/${routerId}/jobs/${job.id as string}/timeline`;
      const { body } = await world.caller.call<{ data: { timeline: { kind: string }[] } }>('GET', path);
      const kinds = body.data.timeline.map(({ kind }) => kind).filter((kind) => kind !== 'waiting');
      expect(kinds).toEqual(['created', 'accepted', 'guard_armed', 'began', 'guard_disarmed', 'ended']);
      const simulator = world.simulators[0]!;
      await waitUntil('nothing is left', () => leftOn(simulator).length === 0);
      expect(simulator.items('/system/identity')).toMatchObject([{ name: 'renamed' }]);
      expect(simulator.log).not.toContain('router rebooted');
    });
  });
});

describe('a router that cannot be guarded', () => {
  const groups = { narrow: ['read', 'write', 'ftp', 'sensitive', 'api', 'ssh', 'test', 'policy', 'password'] };
  const mayNotReboot = { groups, users: [{ name: 'signalbox', password: 'router-password', group: 'narrow' }] };
  const remedy =
    "the agent's user lacks the policy reboot; on the router: " +
    '/user/group/set narrow policy=read,write,ftp,sensitive,api,ssh,test,policy,password,reboot (it said: not enough permissions (9)';

  it.each<[string, Partial<SimulatorOptions>, string]>([
    ['whose device-mode forbids the scheduler', { deviceMode: 'home' }, 'not allowed by device-mode'],
    ['whose user may not reboot it', mayNotReboot, remedy],
    ['whose user may not reboot it, reached by SSH alone,', { ...mayNotReboot, apiPort: null }, remedy],
  ])('%s refuses the job before anything runs', async (_what, options, error) => {
    await withWorld(options, async (world, routerId) => {
      const job = await finish(world, routerId, await submit(world, routerId, '/system identity set name=renamed'));
      expect(job).toMatchObject({ status: 'failed', reason: 'rejected', started_at: null });
      expect(job.error).toContain('the undo guard cannot be armed, nothing ran');
      expect(job.error).toContain(error);
      const simulator = world.simulators[0]!;
      await waitUntil('nothing is left', () => leftOn(simulator).length === 0);
      expect(simulator.executions.filter(({ kind }) => kind === 'script')).toEqual([]);
    });
  });

  it('with another armed guard refuses the job', async () => {
    await withWorld({}, async (world, routerId) => {
      const simulator = world.simulators[0]!;
      simulator.router.table('/system/scheduler').add([
        ['name', 'signalbox-undo-other'],
        ['interval', '1h'],
      ]);
      const job = await finish(world, routerId, await submit(world, routerId, ':put 1'));
      expect(job).toMatchObject({ status: 'failed', reason: 'rejected' });
      expect(leftOn(simulator).filter((name) => name !== 'signalbox-undo-other')).toHaveLength(0);
    });
  });
});

describe('a guarded script', () => {
  it('that only reboots its router is not undone', async () => {
    await withWorld({}, async (world, routerId) => {
      const job = await finish(
        world,
        routerId,
        await submit(world, routerId, '/system identity set name=renamed; /system reboot; :delay 60s'),
      );
      // Whether the script had come to its end nobody knows.
      expect(job).toMatchObject({ status: 'unknown', reason: 'router_rebooted' });
      await stays(world.simulators[0]!);
    });
  });

  it('is undone when the control plane stays unreachable', async () => {
    await withOnlyOne(async (world, routerId) => {
      const jobId = await begin(world, routerId);
      await world.server.close();
      await waitUntil('the router undoes it', () => world.simulators[0]!.log.includes('router rebooted'));
      await world.restartServer();
      expect(await finish(world, routerId, jobId)).toMatchObject({ status: 'failed', reason: 'rolled_back' });
      await waitUntil('nothing is left', () => leftOn(world.simulators[0]!).length === 0);
    });
  });

  it('is undone when its agent stays offline', async () => {
    await withWorld({}, async (world, routerId) => {
      const jobId = await begin(world, routerId);
      await world.agent?.close();
      await waitUntil('the router undoes it', () => world.simulators[0]!.log.includes('router rebooted'));
      await world.startAgent();
      expect(await finish(world, routerId, jobId)).toMatchObject({ status: 'failed', reason: 'rolled_back' });
      await waitUntil('nothing is left', () => leftOn(world.simulators[0]!).length === 0);
    });
  });

  it('is kept when its agent returns in time', async () => {
    await withWorld({}, async (world, routerId) => {
      const jobId = await begin(world, routerId);
      await world.agent?.close();
      await world.startAgent();
      // Cut off with its session: nobody knows how far it came.
      expect((await finish(world, routerId, jobId)).reason).not.toBe('rolled_back');
      await stays(world.simulators[0]!);
    });
  });

  /** A job whose script has done its work and lingers. */
  async function begin(world: World, routerId: string): Promise<string> {
    const jobId = await submit(world, routerId, '/system identity set name=renamed; :delay 20s');
    await waitUntil('the script has begun', () => identity(world.simulators[0]!) === 'renamed');
    return jobId;
  }

  async function stays(simulator: Simulator): Promise<void> {
    await waitUntil('nothing is left', () => leftOn(simulator).length === 0);
    expect(identity(simulator)).toBe('renamed');
  }

  const identity = (simulator: Simulator): string | undefined => simulator.items('/system/identity')[0]?.['name'];
});

/** With several control planes the agent would go to another one. */
function withOnlyOne(use: (world: World, routerId: string) => Promise<void>): Promise<void> {
  return withWorld({}, use, { spread: false });
}

async function withWorld(
  options: Partial<SimulatorOptions>,
  use: (world: World, routerId: string) => Promise<void>,
  more: { spread?: boolean } = {},
): Promise<void> {
  const world = await World.start({ routers: [{ ...options, time: fastTime(10) }], ...more });
  try {
    await use(world, (await world.routerIds())[0]!);
  } finally {
    await world.close();
  }
}

async function submit(world: World, routerId: string, script: string): Promise<string> {
  const answer = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, {
    description: 'guarded',
    script,
    make_backup: false,
    express_execute: true,
    needs_acknowledgement: true,
    undo_unless_reachable_seconds: GUARD_SECONDS,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.job_id;
}

function finish(world: World, routerId: string, jobId: string): Promise<Job> {
  return waitUntil('the job ends', async () => {
    const { data } = (await world.caller.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${jobId}`)).body;
    return data.phase === 'done' || data.phase === 'unknown' ? data : undefined;
  });
}

/** What guards and jobs leave on a router. */
function leftOn(simulator: Simulator): string[] {
  const names = ['/system/scheduler', '/system/script', '/file'].flatMap((menu) => simulator.items(menu).map((row) => row['name'] ?? ''));
  return names.filter((name) => name.includes('signalbox'));
}
