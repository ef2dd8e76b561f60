import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../server/compose/start.ts';
import { Balancer } from '../harness/cluster/balancer.ts';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

const IDENTITY = { command: '/system/identity/print' };

describe.skipIf(!postgres || !hasNats())('a member that the others do not count on, and one that stops', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const idOf = (server: RunningServer): string => server.services.cluster!.nodeId;
  const readiness = async (server: RunningServer): Promise<number | undefined> =>
    (await fetch(`${server.url}/readyz`).catch(() => undefined))?.status;

  test('starts again with a new id on its port, and writes nothing before', async () => {
    const { world, nodes } = await startMembers(closers);
    const [first, second] = [nodes[0]!, nodes[1]!];
    const [routerId] = await world.routerIds();
    const { db } = first.services.storage;
    const [oldId, url, former] = [idOf(second), second.url, second.services];
    await db.deleteFrom('nodes').where('id', '=', oldId).execute();
    await waitUntil('it has noticed', () => !former.cluster!.isCounted());
    // Both at once: a moment later its storage is closed, and may be already.
    const writes = [
      former.storage.writes.write((tx) => tx.deleteFrom('routers').execute()),
      former.storage.db.deleteFrom('routers').execute(),
    ];
    for (const { status, reason } of await Promise.allSettled(writes as Promise<unknown>[]).then((all) => all as PromiseRejectedResult[])) {
      expect(status).toBe('rejected');
      expect(`${(reason as { code?: string }).code} ${(reason as Error).message}`).toMatch(
        /^unavailable |driver has already been destroyed/,
      );
    }
    await waitUntil('it is back', async () => idOf(second) !== oldId && (await readiness(second)) === 200);
    expect(second.url).toBe(url);
    const members = await db.selectFrom('nodes').select('id').orderBy('id').execute();
    expect(members.map(({ id }) => id)).toEqual([idOf(first), idOf(second)].sort());
    const answer = await world.callerAt(second).call('POST', `/api/synchronous/${routerId}`, IDENTITY);
    expect(answer.status).toBe(200);
  });

  test('gives its agents away before it stops, and answers callers until then', async () => {
    const { world, nodes } = await startMembers(closers, { server: { SIGNALBOX_DRAIN_SECONDS: '0' } });
    const [first, second] = [nodes[0]!, nodes[1]!];
    const [routerId] = await world.routerIds();
    const [agent] = await first.services.storage.db.selectFrom('agents').select('id').execute();
    expect(first.services.gateway.epoch(agent!.id)).toBeDefined();
    await first.drain();
    expect(first.services.gateway.epoch(agent!.id)).toBeUndefined();
    expect(await readiness(first)).toBe(503);
    expect(await readiness(second)).toBe(200);
    await waitUntil('the other does everything', () => ownsAll(second));
    await world.agent!.close();
    await world.startAgent({ server: second.url });
    await waitUntil('a caller of the one that stops reaches the agent', async () => {
      const answer = await world.caller.call('POST', `/api/synchronous/${routerId}`, IDENTITY);
      return answer.status === 200;
    });
    const sessions = first.services.storage.db
      .selectFrom('agent_sessions')
      .select(['node_id', 'ended_by'])
      .where('closed_at', 'is not', null);
    await waitUntil('the end is stored', async () => (await sessions.execute()).length > 0);
    expect((await sessions.execute())[0]).toEqual({ node_id: idOf(first), ended_by: 'server_stopped' });
  });

  test('no command fails while the agent goes to another one, asked at either', async () => {
    const { world, nodes } = await startMembers(closers, { server: { SIGNALBOX_DRAIN_SECONDS: '0' } });
    const [first, second] = [nodes[0]!, nodes[1]!];
    const [routerId] = await world.routerIds();
    const [firstPort, secondPort] = [first, second].map(({ url }) => Number(new URL(url).port)) as [number, number];
    const balancer = await Balancer.start([firstPort, secondPort]);
    closers.push(() => balancer.close());
    await world.agent!.close();
    await world.startAgent({ server: balancer.url });
    const answers: { status: number; code: string | undefined; isDrained: boolean }[] = [];
    let isDrained = false;
    const isOver = (): boolean => answers.filter((answer) => answer.isDrained).length >= 20;
    const askOn = async (server: RunningServer): Promise<void> => {
      while (!isOver()) {
        const { status, body } = await world.callerAt(server).call<{ code?: string }>('POST', `/api/synchronous/${routerId}`, IDENTITY);
        answers.push({ status, code: body.code, isDrained });
      }
    };
    await waitUntil('it is there', async () => (await world.caller.call('POST', `/api/synchronous/${routerId}`, IDENTITY)).status === 200);
    // Some are under way at every moment, so that the agent is never idle by itself.
    world.simulators[0]!.faults.delayMs = 200;
    const asking = [first, second].flatMap((server) => Array.from({ length: 3 }, () => askOn(server)));
    await waitUntil('commands are under way', () => answers.length >= 6);
    balancer.targets = [secondPort, firstPort];
    await first.drain();
    const [agent] = await first.services.storage.db.selectFrom('agents').select('id').execute();
    await waitUntil('it is at the other', () => second.services.gateway.epoch(agent!.id) !== undefined);
    isDrained = true;
    await Promise.all(asking);
    expect(first.services.gateway.epoch(agent!.id)).toBeUndefined();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('drains when the database says so, and takes work again when it says that', async () => {
    const { nodes } = await startMembers(closers, { routers: [] });
    const [first, second] = [nodes[0]!, nodes[1]!];
    const { db } = second.services.storage;
    const set = (state: 'up' | 'draining') => db.updateTable('nodes').set({ state }).where('id', '=', idOf(first)).execute();
    await set('draining');
    await waitUntil('it drains', async () => (await readiness(first)) === 503);
    await waitUntil('the other does everything', () => ownsAll(second));
    await set('up');
    await waitUntil('it is ready', async () => (await readiness(first)) === 200);
    await waitUntil('both have work', () => !ownsAll(second));
  });

  test('of several that all drain, one takes work again', async () => {
    const { nodes } = await startMembers(closers, { routers: [] });
    const { db } = nodes[0]!.services.storage;
    await db.updateTable('nodes').set({ state: 'draining' }).where('id', '=', idOf(nodes[0]!)).execute();
    await waitUntil('one drains', async () => (await readiness(nodes[0]!)) === 503);
    // As the last one says when it stops; one that was killed has no row after 10 s.
    await db.updateTable('nodes').set({ state: 'draining' }).where('id', '=', idOf(nodes[1]!)).execute();
    await waitUntil('the other has seen it', async () => (await readiness(nodes[1]!)) === 503 || (await readiness(nodes[0]!)) === 200);
    await waitUntil('at least one answers', async () => (await Promise.all(nodes.map(readiness))).includes(200));
    const states = await db.selectFrom('nodes').select('state').execute();
    expect(states.map(({ state }) => state)).toContain('up');
  });

  function ownsAll({ services }: RunningServer): boolean {
    return Array.from({ length: 40 }, (_, number) => `work ${number}`).every((name) => services.cluster!.members.isOwn(name));
  }
});
