import { beforeEach, describe, expect, test } from 'vitest';
import { Counters } from '../../../server/platform/core/counters.ts';
import { Listeners } from '../../../server/platform/core/listeners.ts';
import type { AgentGateway, Notice } from '../../../server/platform/core/agent-gateway.ts';
import { RemoteAgents } from '../../../server/platform/nodes/remote-agents.ts';
import { MemoryBus } from '../../harness/cluster/memory-bus.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const AGENT = 'agent-1';

/** One control plane: what its own agents were told. */
interface Node {
  agents: RemoteAgents;
  held: Set<string>;
  told: string[];
}

describe('a notice to an agent of another control plane', () => {
  let bus: MemoryBus;
  let nodes: Map<string, Node>;
  /** What the database knows. */
  let holder: string | undefined;
  let reads: number;

  function start(id: string): Node {
    const held = new Set<string>();
    const told: string[] = [];
    const notify = (agentId: string, message: Notice): boolean => {
      if (held.has(agentId)) told.push(message.type === 'job.revoke' ? message.job_id : message.type);
      return held.has(agentId);
    };
    const epoch = (agentId: string): number | undefined => (held.has(agentId) ? 1 : undefined);
    const agents = new RemoteAgents({
      nodeId: id,
      bus: bus.connect(),
      isCounted: () => true,
      gone: new Listeners<string>(),
      local: { notify, epoch, closeOlder: () => undefined } as Partial<AgentGateway> as never,
      isElsewhere: () => false,
      holder: (agentId) => {
        reads += agentId === AGENT ? 1 : 0;
        return Promise.resolve(holder);
      },
      clock: new ManualClock(),
      counters: new Counters(),
    });
    const node = { agents, held, told };
    nodes.set(id, node);
    return node;
  }

  const revoke = (jobId: string): Notice => ({ type: 'job.revoke', job_id: jobId });

  beforeEach(() => {
    bus = new MemoryBus();
    nodes = new Map();
    holder = undefined;
    reads = 0;
  });

  test('goes where the database has its tunnel, in order, with one read', async () => {
    const [a, b] = [start('a'), start('b')];
    b.held.add(AGENT);
    holder = 'b';
    for (const job of ['1', '2', '3']) expect(a.agents.notify(AGENT, revoke(job))).toBe(true);
    await waitUntil('all arrived', () => b.told.length === 3);
    expect(b.told).toEqual(['1', '2', '3']);
    expect(a.agents.notify(AGENT, revoke('4'))).toBe(true);
    await waitUntil('it arrived', () => b.told.includes('4'));
    expect(reads).toBe(1);
  });

  test('that must not be overtaken is there, or lost, once it is delivered', async () => {
    const [a, b] = [start('a'), start('b')];
    b.held.add(AGENT);
    holder = 'b';
    await a.agents.deliver(AGENT, revoke('1'));
    expect(b.told).toEqual(['1']);
    b.held.delete(AGENT);
    await a.agents.deliver(AGENT, revoke('2'));
    a.held.add(AGENT);
    await a.agents.deliver(AGENT, revoke('3'));
    bus.isUp = false;
    await b.agents.deliver(AGENT, revoke('4'));
    expect([a.told, b.told]).toEqual([['3'], ['1']]);
  });

  test('follows an agent that has moved, also to this one', async () => {
    const [a, b, c] = [start('a'), start('b'), start('c')];
    b.held.add(AGENT);
    holder = 'b';
    a.agents.notify(AGENT, revoke('1'));
    await waitUntil('it arrived', () => b.told.length === 1);
    b.held.delete(AGENT);
    c.held.add(AGENT);
    holder = 'c';
    a.agents.notify(AGENT, revoke('2'));
    await waitUntil('it arrived at the next', () => c.told.length === 1);
    c.held.delete(AGENT);
    a.held.add(AGENT);
    expect(a.agents.notify(AGENT, revoke('3'))).toBe(true);
    expect([a.told, b.told, c.told]).toEqual([['3'], ['1'], ['2']]);
  });

  test('is certainly not sent while the bus is away', () => {
    const [a, b] = [start('a'), start('b')];
    b.held.add(AGENT);
    holder = 'b';
    bus.isUp = false;
    expect(a.agents.notify(AGENT, revoke('1'))).toBe(false);
    a.held.add(AGENT);
    expect(a.agents.notify(AGENT, revoke('2'))).toBe(true);
    expect([a.told, b.told]).toEqual([['2'], []]);
  });
});
