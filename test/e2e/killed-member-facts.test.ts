import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWorld, postgres } from '../harness/cluster/cluster-world.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

describe.skipIf(!postgres || !hasNats())('facts of agents when their control plane is killed', { timeout: 240_000 }, () => {
  let closers: (() => Promise<void>)[];
  let cluster: ClusterWorld;

  beforeEach(async () => {
    closers = [];
    cluster = await ClusterWorld.start(closers);
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  async function stateHere(): Promise<{ state: string; state_reason: string | null }> {
    const { body } = await cluster.world.caller.call<{ data: { state: string; state_reason: string | null } }>(
      'GET',
      `/api/routers/${cluster.routerId}`,
    );
    return body.data;
  }

  /** How many faults say that the agent is lost. Others may come on a busy machine: a router counts as silent after 3 s here. */
  async function agentFaults(): Promise<number> {
    const { body } = await cluster.world.caller.call<{ data: { type: string }[] }>('GET', '/api/faults');
    return body.data.filter(({ type }) => type === 'agent_offline').length;
  }

  /** Every state that was stored of the router, in their order. */
  async function storedStates(): Promise<string[]> {
    const { db } = cluster.world.server.services.storage;
    const rows = await db.selectFrom('router_state_changes').select('state').orderBy('since').orderBy('id').execute();
    return rows.map(({ state }) => state);
  }

  test('an agent that comes back elsewhere was never away', async () => {
    await waitUntil('the router answers for both', async () => (await stateHere()).state === 'answering');
    // The agent has moved once before, from this control plane to the other.
    const before = (await storedStates()).filter((state) => state === 'agent_away').length;
    await cluster.other.kill();
    await waitUntil('the agent is connected here', () => cluster.isHere);
    await waitUntil('the other counts no more', async () => (await cluster.nodes()).length === 1);
    await waitUntil('the router answers', async () => (await stateHere()).state === 'answering');
    // Twice the time after which an agent is offline.
    const endsAt = performance.now() + 7000;
    await waitUntil('the time is over in which a fault could open', async () => {
      expect(await agentFaults()).toBe(0);
      return performance.now() > endsAt;
    });
    expect((await storedStates()).filter((state) => state === 'agent_away')).toHaveLength(before);
  });

  test('an agent that is lost with it has its fault, from the one that is left', async () => {
    await cluster.restartAgent(cluster.otherUrl);
    await waitUntil('the agent is connected to the other', () => cluster.answersAtOther());
    await waitUntil('the router answers', async () => (await stateHere()).state === 'answering');
    await cluster.other.kill();
    await waitUntil('its fault is open', async () => (await agentFaults()) > 0);
    expect(await agentFaults()).toBe(1);
    expect(await stateHere()).toMatchObject({ state: 'agent_away', state_reason: 'unknown' });
  });
});
