import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../server/compose/start.ts';
import { NoAnswerError } from '../../server/platform/bus/errors.ts';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { inventedFacts } from '../harness/invented-facts.ts';
import { hasNats } from '../harness/nats-server.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { World } from '../harness/world.ts';

interface ShownRouter {
  id: string;
  has_pulse: boolean;
  state: string;
  state_since: string;
  state_reason: string | null;
}

interface ShownAgent {
  connected: boolean;
  epoch: number | null;
}

interface ShownFault {
  type: string;
  occurrences: number;
  resolved_at: string | null;
}

/** Every node answers the same: what people see does not depend on where a balancer sends them. */
describe.skipIf(!postgres || !hasNats())('facts of agents at three control planes', { timeout: 240_000 }, () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  async function routerAt(world: World, node: RunningServer, routerId: string): Promise<ShownRouter | undefined> {
    const { body } = await world.callerAt(node).call<{ data: ShownRouter[] }>('GET', '/api/routers');
    return body.data.find(({ id }) => id === routerId);
  }

  async function faultsAt(world: World, node: RunningServer): Promise<ShownFault[]> {
    return (await world.callerAt(node).call<{ data: ShownFault[] }>('GET', '/api/faults')).body.data;
  }

  async function statesAt(world: World, nodes: readonly RunningServer[], routerId: string): Promise<(string | undefined)[]> {
    return Promise.all(nodes.map(async (node) => (await routerAt(world, node, routerId))?.state));
  }

  test('an agent is connected for all of them, and no control plane without its tunnel takes it for lost', async () => {
    const { world, nodes } = await startMembers(closers, { members: 3, server: { SIGNALBOX_OFFLINE_AFTER_SECONDS: '8' } });
    const [routerId] = (await world.routerIds()) as [string];
    await waitUntil('all three say that the router answers', async () =>
      (await statesAt(world, nodes, routerId)).every((state) => state === 'answering'),
    );
    // Longer than the time after which a router that nobody hears of is offline.
    const endsAt = performance.now() + 12_000;
    await waitUntil('the time is over in which a fault could open', async () => {
      for (const node of nodes) {
        const router = await routerAt(world, node, routerId);
        expect(router).toMatchObject({ state: 'answering', has_pulse: true });
        expect(await faultsAt(world, node)).toEqual([]);
      }
      return performance.now() > endsAt;
    });
  });

  test('an agent that moves is the same for all of them, with its line as measured where its tunnel is', async () => {
    const { world, nodes } = await startMembers(closers, { members: 3 });
    const [routerId] = (await world.routerIds()) as [string];
    await world.agent!.close();
    await world.startAgent({ server: nodes[1]!.url });
    const agentsAt = async (node: RunningServer): Promise<ShownAgent[]> =>
      (await world.callerAt(node).call<{ data: ShownAgent[] }>('GET', '/api/agents')).body.data;
    await waitUntil('all three say that the agent is connected again', async () => {
      const agents = (await Promise.all(nodes.map(agentsAt))).map(([agent]) => agent);
      return agents.every((agent) => agent?.connected === true && agent.epoch !== null && agent.epoch === agents[1]!.epoch);
    });
    const [first, ...others] = (await Promise.all(nodes.map(agentsAt))).map(([agent]) => agent!);
    for (const agent of others) expect(agent).toEqual(first);
    await waitUntil('all three say that the router answers', async () =>
      (await statesAt(world, nodes, routerId)).every((state) => state === 'answering'),
    );
    for (const node of nodes) {
      expect(await faultsAt(world, node)).toEqual([]);
      const { body } = await world.callerAt(node).call<{ data: { agents: object; routers: object } }>('GET', '/api/overview');
      expect(body.data).toMatchObject({ agents: { connected: 1, away: 0, unseen: 0 }, routers: { answering: 1, agent_away: 0 } });
    }
  });

  test('an agent that stays away has one fault, and one that comes back anywhere has none', async () => {
    const { world, nodes } = await startMembers(closers, { members: 3 });
    const [routerId] = (await world.routerIds()) as [string];
    await world.agent!.close();
    await waitUntil('all three say that the agent is away', async () =>
      (await statesAt(world, nodes, routerId)).every((state) => state === 'agent_away'),
    );
    const shown = await Promise.all(nodes.map((node) => routerAt(world, node, routerId)));
    for (const router of shown) expect(router).toMatchObject({ state_since: shown[0]!.state_since, state_reason: 'left' });
    await waitUntil('the fault is open', async () => (await faultsAt(world, nodes[0]!)).length > 0);
    for (const node of nodes) expect(await faultsAt(world, node)).toMatchObject([{ type: 'agent_offline', resolved_at: null }]);
    await world.startAgent({ server: nodes[2]!.url });
    await waitUntil('it is resolved', async () => (await faultsAt(world, nodes[0]!))[0]?.resolved_at !== null);
    await waitUntil('all three say that the router answers', async () =>
      (await statesAt(world, nodes, routerId)).every((state) => state === 'answering'),
    );
    expect(await faultsAt(world, nodes[1]!)).toMatchObject([{ type: 'agent_offline', occurrences: 1 }]);
  });

  test('a router that answers again is not replaced by one that has not heard of it yet', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2, routers: [{}, {}] });
    const [old, fresh] = (await world.routerIds()) as [string, string];
    const faults = world.simulators[0]!.faults;
    for (const turn of [1, 2, 3]) {
      faults.refuseConnections = true;
      faults.resetConnections();
      await waitUntil('both say that it does not answer', async () =>
        (await statesAt(world, nodes, old)).every((state) => state === 'not_answering'),
      );
      faults.refuseConnections = false;
      await waitUntil('it answers where its tunnel is', async () => (await routerAt(world, nodes[0]!, old))?.has_pulse);
      const answer = await world.callerAt(nodes[1]!).call('POST', `/api/routers/${old}/replace`, { replaced_by: fresh });
      expect(answer, `turn ${turn}`).toMatchObject({ status: 409, body: { detail: 'the old router still answers: disconnect it first' } });
    }
  });

  test('a router whose control plane does not answer is neither removed nor replaced', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2, routers: [{}, {}] });
    const [old, fresh] = (await world.routerIds()) as [string, string];
    const other = world.callerAt(nodes[1]!);
    await waitUntil('the other knows where the tunnel is', async () => (await routerAt(world, nodes[1]!, old))?.has_pulse);
    nodes[1]!.services.cluster!.bus.ask = () => Promise.reject(new NoAnswerError('deadline'));
    for (const answer of [
      await other.call('POST', `/api/routers/${old}/replace`, { replaced_by: fresh }),
      await other.call('DELETE', `/api/routers/${old}`),
    ])
      expect(answer).toMatchObject({
        status: 503,
        body: { detail: 'the control plane that has the agent of this router does not answer' },
      });
  });

  test('a claim is a fault wherever it is seen, and ends wherever it is answered', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2, routers: [] });
    const connect = async (name: string, node: RunningServer): Promise<TestAgent> => {
      const { credentials } = node.services;
      const { token } = await credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
      const { agent_id: agentId, secret } = await credentials.enrolAgent(token, name);
      const agent = new TestAgent({ agentId, secret }, Number(new URL(node.url).port));
      closers.push(() => agent.stop());
      agent.start();
      await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
      return agent;
    };
    const owner = await connect('owner', nodes[0]!);
    const claimer = await connect('claimer', nodes[1]!);
    const report = (agent: TestAgent): void => void agent.send({ type: 'inventory', router: 'gw', facts: inventedFacts('ONE') });
    const claims = async (node: RunningServer): Promise<string[]> =>
      (await world.callerAt(node).call<{ data: { id: string; state: string }[] }>('GET', '/api/router-moves')).body.data.map(
        ({ id }) => id,
      );
    report(owner);
    await waitUntil(
      'the router is listed',
      async () => (await world.callerAt(nodes[1]!).call<{ data: object[] }>('GET', '/api/routers')).body.data.length > 0,
    );
    report(claimer);
    await waitUntil('the fault is open', async () => (await faultsAt(world, nodes[0]!)).length > 0);
    expect(await faultsAt(world, nodes[0]!)).toMatchObject([{ type: 'move_requested', resolved_at: null, occurrences: 1 }]);
    report(claimer);
    const [claim] = await claims(nodes[0]!);
    expect((await world.callerAt(nodes[0]!).call('POST', `/api/router-moves/${claim}/refuse`)).status).toBe(200);
    await waitUntil('the fault is resolved', async () => (await faultsAt(world, nodes[1]!))[0]?.resolved_at !== null);
    expect(await faultsAt(world, nodes[1]!)).toMatchObject([{ type: 'move_requested', occurrences: 1 }]);
  });

  test('the entries of an agent, its address and its removal are known to one without its tunnel', async () => {
    const { world, nodes } = await startMembers(closers, { members: 2 });
    const [routerId] = (await world.routerIds()) as [string];
    const [here, other] = nodes.map((node) => world.callerAt(node));
    const agentId = (await here!.call<{ data: { id: string }[] }>('GET', '/api/agents')).body.data[0]!.id;
    const entries = await here!.call('GET', `/api/agents/${agentId}/routers`);
    const metadata = await waitUntil('the address is known where its tunnel is', async () => {
      const known = await here!.call<{ data: { last_seen_from: string | null } }>('GET', `/api/routers/${routerId}/metadata`);
      return known.body.data.last_seen_from === null ? undefined : known;
    });
    expect(entries.body).toMatchObject({ data: { routers: [{ router_id: routerId, reachable: true }] } });
    await waitUntil('the other says the same', async () => {
      const told = await other!.call('GET', `/api/agents/${agentId}/routers`);
      return JSON.stringify(told.body) === JSON.stringify(entries.body);
    });
    await waitUntil('the other knows its address', async () => {
      const told = await other!.call('GET', `/api/routers/${routerId}/metadata`);
      return JSON.stringify(told.body) === JSON.stringify(metadata.body);
    });
    expect((await other!.call('DELETE', `/api/agents/${agentId}?remove=true`)).status).toBe(204);
    for (const caller of [here!, other!])
      await waitUntil('no router is left', async () => {
        const { body } = await caller.call<{ data: { routers: Record<string, number> } }>('GET', '/api/overview');
        return Object.values(body.data.routers).every((count) => count === 0);
      });
  });
});
