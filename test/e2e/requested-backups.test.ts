import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { SimulatorOptions } from '../simulator/index.ts';

/** Backups that somebody asks for, without a job, by every way that a router has. */

interface Shown {
  id: string;
  job_id: string | null;
  origin: string;
  state: string;
  error: string | null;
  parts: { part: string; size: number }[];
}

const take = (world: World, routerId: string, body?: object) =>
  world.caller.call<{ data: Shown; code?: string }>('POST', `/api/routers/${routerId}/backups`, body);

const list = async (world: World, routerId: string): Promise<Shown[]> =>
  (await world.caller.call<{ data: Shown[] }>('GET', `/api/routers/${routerId}/backups`)).body.data;

const ended = (world: World, routerId: string, id: string): Promise<Shown> =>
  waitUntil('the backup is stored or lost', async () =>
    (await list(world, routerId)).find((backup) => backup.id === id && backup.state !== 'pending'),
  );

const filesOf = (world: World): string[] =>
  world.simulators[0]!.items('/file')
    .map((file) => file['name']!)
    .filter((name) => name.includes('signalbox-'));

const WAYS: [string, Partial<SimulatorOptions>, string[]][] = [
  ['7.18.2', {}, ['binary', 'export']],
  ['7.18.2 by SSH alone', { apiPort: null }, ['binary', 'export']],
  ['7.18.2 by the API alone', { sshPort: null }, ['binary', 'export']],
  ['6.49.10', { version: '6.49.10' }, ['binary', 'export']],
  ['6.49.10 by the API alone', { version: '6.49.10', sshPort: null }, ['export']],
];

describe.each(WAYS)('on RouterOS %s', (_name, options, parts) => {
  let world: World;
  let routerId: string;
  beforeAll(async () => {
    world = await World.start({ routers: [options] });
    routerId = (await world.routerIds())[0]!;
  });
  afterAll(() => world.close());

  it('a backup is pending, then stored, and its files are removed from the router', async () => {
    const { status, body } = await take(world, routerId);
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: { job_id: null, origin: 'request', state: 'pending', parts: [] },
    });
    const backup = await ended(world, routerId, body.data.id);
    expect(backup).toMatchObject({ state: 'stored', origin: 'request', job_id: null });
    expect(backup.parts.map(({ part }) => part)).toEqual(parts);
    expect(backup.error === null).toBe(parts.includes('binary'));
    await waitUntil('the router is clean', () => filesOf(world).length === (parts.includes('binary') ? 0 : 1));
  });

  it('an export alone is the same text as in a file, and leaves no file', async () => {
    const { body } = await take(world, routerId, { parts: ['export'] });
    const backup = await ended(world, routerId, body.data.id);
    expect(backup).toMatchObject({ state: 'stored', error: null, parts: [{ part: 'export' }] });
    const all = await list(world, routerId);
    const diff = await world.caller.call<{ data: { changed: boolean } }>(
      'GET',
      `/api/routers/${routerId}/backups/${all.at(-1)!.id}/diff/${backup.id}`,
    );
    expect(diff.body.data.changed).toBe(false);
    await waitUntil('the router is clean', () => filesOf(world).every((name) => name.endsWith('.backup')));
  });
});

describe('a request', () => {
  let world: World;
  let routerId: string;
  beforeAll(async () => {
    world = await World.start({ routers: [{ version: '7.18.2' }] });
    routerId = (await world.routerIds())[0]!;
  });
  afterAll(() => world.close());

  test('for an export alone writes no file on the router', async () => {
    const written = vi.spyOn(world.simulators[0]!.router.files, 'write');
    const { body } = await take(world, routerId, { parts: ['export'] });
    expect((await ended(world, routerId, body.data.id)).state).toBe('stored');
    expect(written).not.toHaveBeenCalled();
  });

  test('while one waits is a conflict; the one that waits is taken when the agent is back', async () => {
    await world.agent!.close();
    world.agent = undefined;
    const { body } = await take(world, routerId, { parts: ['export'] });
    const again = await take(world, routerId, { parts: ['export'] });
    expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'conflict' });
    await world.startAgent();
    expect((await ended(world, routerId, body.data.id)).state).toBe('stored');
    expect((await take(world, routerId, { parts: ['export'] })).status).toBe(200);
  });

  test('that survives a restart of the control plane is fetched', async () => {
    await waitUntil('none waits', async () => (await list(world, routerId)).every(({ state }) => state !== 'pending'));
    await world.agent!.close();
    world.agent = undefined;
    const { body } = await take(world, routerId);
    await world.restartServer();
    await world.startAgent();
    expect((await ended(world, routerId, body.data.id)).parts.map(({ part }) => part)).toEqual(['binary', 'export']);
  });

  test.each([{ parts: [] }, { parts: ['export_after'] }, { parts: 'export' }])('with %j is refused', async (body) => {
    expect((await take(world, routerId, body)).status).toBe(422);
  });

  test('whose router refuses says why, and keeps what there is', async () => {
    world.simulators[0]!.faults.diskFull = true;
    const { body } = await take(world, routerId);
    const backup = await ended(world, routerId, body.data.id);
    world.simulators[0]!.faults.diskFull = false;
    expect(backup.parts.map(({ part }) => part)).toEqual(['export']);
    expect(backup.error).toMatch(/^binary: /);
  });
});
