import { beforeEach, describe, expect, test } from 'vitest';
import { JobsElsewhere } from '../../../server/work/jobs/dispatch/elsewhere.ts';
import { MemoryBus } from '../../harness/cluster/memory-bus.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { waitUntil } from '../../harness/wait-until.ts';

describe('jobs of agents of other control planes', () => {
  let bus: MemoryBus;

  function start(nodeId: string): { elsewhere: JobsElsewhere; told: string[] } {
    const told: string[] = [];
    const elsewhere = new JobsElsewhere({
      storage: undefined as never,
      clock: new ManualClock(),
      log: silentLog,
      cluster: { nodeId, bus: bus.connect(), members: { isOwn: () => true } },
      dispatcher: {
        hasNoAgents: false,
        expressIsWaiting: (agentId) => told.push(agentId),
        routerIsFree: (agentId, routerId) => told.push(`${agentId} ${routerId}`),
      },
    });
    return { elsewhere, told };
  }

  beforeEach(() => {
    bus = new MemoryBus();
  });

  test('are told to the others at once, each agent and router once, and never back', async () => {
    const [a, b] = [start('a'), start('b')];
    for (let n = 0; n < 3; n += 1) {
      a.elsewhere.tell('agent-1');
      a.elsewhere.tell('agent-1', 'router-1');
      a.elsewhere.tell('agent-2', 'router-2');
    }
    await waitUntil('told', () => b.told.length > 0);
    expect(b.told).toEqual(['agent-1', 'agent-1 router-1', 'agent-2 router-2']);
    expect(a.told).toEqual([]);
    a.elsewhere.tell('agent-3');
    await waitUntil('told again', () => b.told.includes('agent-3'));
  });

  test('of thousands of agents come in several hints', async () => {
    const [a, b] = [start('a'), start('b')];
    for (let n = 0; n < 1201; n += 1) a.elsewhere.tell(`agent-${n}`);
    await waitUntil('told', () => b.told.length === 1201);
  });
});
