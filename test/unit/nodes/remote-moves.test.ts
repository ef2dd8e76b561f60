import { beforeEach, describe, expect, test } from 'vitest';
import { Counters } from '../../../server/platform/core/counters.ts';
import { Listeners } from '../../../server/platform/core/listeners.ts';
import type { AgentGateway, RequestOptions } from '../../../server/platform/core/agent-gateway.ts';
import { AppError } from '../../../server/platform/core/errors.ts';
import { RemoteAgents } from '../../../server/platform/nodes/remote-agents.ts';
import { MemoryBus } from '../../harness/cluster/memory-bus.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const AGENT = 'agent-1';
const PARAMS = { router: 'one', hardware_id: 'HW1', path: '/ip/address/print', words: [] };

interface Node {
  agents: RemoteAgents;
  held: Set<string>;
  /** How long each request that reached the agent may still take. */
  sent: number[];
}

describe('a request to an agent that is sent to another control plane', () => {
  let bus: MemoryBus;
  let clock: ManualClock;
  let holder: string | undefined;
  let a: Node;
  let b: Node;

  function start(id: string): Node {
    const held = new Set<string>();
    const sent: number[] = [];
    const request = async (agentId: string, _method: string, _params: unknown, { timeoutMs }: RequestOptions): Promise<object> => {
      if (!held.has(agentId)) throw new AppError('agent_offline', 'the agent is not connected');
      sent.push(timeoutMs);
      return { ret: id };
    };
    const epoch = (agentId: string): number | undefined => (held.has(agentId) ? 1 : undefined);
    const agents = new RemoteAgents({
      nodeId: id,
      bus: bus.connect(),
      isCounted: () => true,
      gone: new Listeners<string>(),
      local: { request, epoch, closeOlder: () => undefined } as Partial<AgentGateway> as never,
      isElsewhere: () => false,
      holder: () => Promise.resolve(holder),
      clock,
      counters: new Counters(),
    });
    return { agents, held, sent };
  }

  /** Its outcome: where it was answered, or the code of its error. */
  async function ask({ agents }: Node, timeoutMs = 30_000, signal?: AbortSignal): Promise<string | undefined> {
    try {
      return (await agents.request(AGENT, 'command', PARAMS, { timeoutMs, ...(signal && { signal }) })).ret;
    } catch (error) {
      return (error as AppError).code;
    }
  }

  function connect(to: Node, id: string): void {
    for (const node of [a, b]) node.held.delete(AGENT);
    to.held.add(AGENT);
    holder = id;
    to.agents.announce(AGENT, 2);
  }

  /** Lets everything go on that need not wait for time. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  }

  beforeEach(() => {
    bus = new MemoryBus();
    clock = new ManualClock();
    [a, b] = [start('a'), start('b')];
    connect(a, 'a');
  });

  test('waits for its new tunnel at either, and is sent once, with the time that is left', async () => {
    a.agents.leaves(AGENT, 5000);
    const [atA, atB] = [ask(a), ask(b)];
    await settle();
    clock.advance(1000);
    await settle();
    expect([a.sent, b.sent]).toEqual([[], []]);
    connect(b, 'b');
    expect(await Promise.all([atA, atB])).toEqual(['b', 'b']);
    expect(b.sent).toEqual([29_000, 29_000]);
    expect(a.sent).toEqual([]);
  });

  test('that is on its way to the former one when the agent is sent away waits too', async () => {
    expect(await ask(b)).toBe('a');
    const asked = ask(b);
    a.agents.leaves(AGENT, 5000);
    await settle();
    expect(a.sent).toHaveLength(1);
    connect(b, 'b');
    expect(await asked).toBe('b');
  });

  test('is offline when it does not come in time, and then at once', async () => {
    a.agents.leaves(AGENT, 5000);
    a.held.delete(AGENT);
    holder = undefined;
    const outcomes: (string | undefined)[] = [];
    for (const node of [a, b]) void ask(node).then((outcome) => outcomes.push(outcome));
    await settle();
    clock.advance(4999);
    await settle();
    expect(outcomes).toEqual([]);
    clock.advance(1);
    await waitUntil('both are answered', () => outcomes.length === 2);
    expect(outcomes).toEqual(['agent_offline', 'agent_offline']);
    expect(await ask(b)).toBe('agent_offline');
  });

  test('waits no longer than its caller, and nothing is sent then', async () => {
    a.agents.leaves(AGENT, 5000);
    const asked = ask(a, 2000);
    await settle();
    clock.advance(2000);
    expect(await asked).toBe('agent_offline');
    const caller = new AbortController();
    const other = ask(b, 30_000, caller.signal);
    await settle();
    caller.abort();
    expect(await other).toBe('agent_offline');
    expect([a.sent, b.sent]).toEqual([[], []]);
  });

  test('goes on where it is when it need not leave after all', async () => {
    a.agents.leaves(AGENT, 5000);
    const [atA, atB] = [ask(a), ask(b)];
    await settle();
    a.agents.announce(AGENT, 1);
    expect(await Promise.all([atA, atB])).toEqual(['a', 'a']);
  });

  test('waits although the word that it is sent away was lost', async () => {
    bus.isUp = false;
    a.agents.leaves(AGENT, 5000);
    bus.isUp = true;
    a.held.delete(AGENT);
    clock.advance(1000);
    let outcome: string | undefined;
    const asked = ask(b).then((value) => (outcome = value));
    await settle();
    clock.advance(3999);
    await settle();
    expect(outcome).toBeUndefined();
    connect(b, 'b');
    await asked;
    expect(outcome).toBe('b');
    expect(b.sent).toEqual([26_001]);
  });

  test('waits for nobody at a third one that has heard neither that it left nor that it has arrived', async () => {
    const c = start('c');
    expect(await ask(c)).toBe('a');
    bus.isUp = false;
    a.agents.leaves(AGENT, 5000);
    connect(b, 'b');
    bus.isUp = true;
    expect(await ask(c)).toBe('b');
    expect(await Promise.race([ask(c), settle().then(() => 'it waits')])).toBe('b');
  });

  test('waits for nobody once the control plane stops', async () => {
    a.agents.leaves(AGENT, 5000);
    const asked = ask(a);
    await settle();
    a.agents.stop();
    expect(await asked).toBe('a');
  });
});
