import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentConnection } from '../../../server/platform/core/agent-gateway.ts';
import { UNANSWERED_OFFERS } from '../../../server/work/jobs/dispatch/dispatcher.ts';
import { JobsService } from '../../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../../server/work/jobs/types.ts';
import { RoutersService } from '../../../server/fleet/routers/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { migrate } from '../../../server/platform/storage/migrate.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { turns } from '../../harness/jobs/random.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { seedRouter } from '../../harness/seed.ts';
import type { SeededRouter } from '../../harness/seed.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { waitUntil } from '../../harness/wait-until.ts';

describe('offers to agents that do not answer', () => {
  const clock = new ManualClock();
  let storage: Storage;
  let jobs: JobsService;
  /** Agents in the order in which they were offered something. */
  let offered: string[];

  beforeEach(async () => {
    storage = await openStorage('sqlite::memory:', { log: silentLog });
    await migrate(storage);
    offered = [];
    jobs = new JobsService({
      storage,
      gateway: {
        notify: (agentId, message) => {
          if (message.type === 'job.offer') offered.push(agentId);
          return true;
        },
      },
      routers: new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } }),
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: false },
      random: () => 1,
    });
    jobs.start();
  });

  afterEach(async () => {
    await jobs.stop();
    await storage.close();
  });

  const connectionOf = ({ teamId, agentId }: SeededRouter): AgentConnection => ({ teamId, agentId, epoch: 1, address: '', reset: false });

  async function express(router: SeededRouter): Promise<void> {
    const job = {
      description: 'd',
      script: ':put 1',
      makeBackup: false,
      expressExecute: true,
      needsAcknowledgement: true,
      notifyUrl: undefined,
      timeoutSeconds: undefined,
      deliverWithinMinutes: undefined,
    };
    await jobs.createJob(router.teamId, router.routerId, job, { requestId: 'r', idempotencyKey: randomUUID(), keyGiven: false });
  }

  /** An agent with so many routers, each with an express job waiting. */
  async function busyAgent(routers: number, team?: SeededRouter): Promise<SeededRouter> {
    const first = await seedRouter(storage, team && { teamId: team.teamId });
    const others = await Promise.all(Array.from({ length: routers - 1 }, () => seedRouter(storage, first)));
    for (const router of [first, ...others]) await express(router);
    return first;
  }

  const offersTo = ({ agentId }: SeededRouter): number => offered.filter((id) => id === agentId).length;

  it('are limited to 64 for each agent, while another team gets its offer at once', async () => {
    const silent = await busyAgent(500);
    await jobs.onReady(connectionOf(silent), []);
    await waitUntil('the silent agent has its share', () => offersTo(silent) === UNANSWERED_OFFERS.perMember);
    const neighbour = await seedRouter(storage);
    await jobs.onReady(connectionOf(neighbour), []);
    await express(neighbour);
    await waitUntil('the neighbour is offered its job', () => offersTo(neighbour) === 1);
    await turns(30);
    expect(offersTo(silent)).toBe(UNANSWERED_OFFERS.perMember);
  });

  it('do not delay another agent of the same team', async () => {
    const silent = await busyAgent(100);
    await jobs.onReady(connectionOf(silent), []);
    await waitUntil('the silent agent has its share', () => offersTo(silent) === UNANSWERED_OFFERS.perMember);
    const colleague = await busyAgent(1, silent);
    await jobs.onReady(connectionOf(colleague), []);
    await waitUntil('the other agent is offered its job', () => offersTo(colleague) === 1);
  });

  it('let teams take turns: the second team does not wait for all offers of the first', async () => {
    const first = await busyAgent(60);
    const second = await busyAgent(3);
    await Promise.all([jobs.onReady(connectionOf(first), []), jobs.onReady(connectionOf(second), [])]);
    await waitUntil('both are offered everything', () => offered.length === 63);
    expect(offered.lastIndexOf(second.agentId)).toBeLessThan(20);
  });

  it('free their slots when the answer deadline passes', async () => {
    const silent = await busyAgent(100);
    await jobs.onReady(connectionOf(silent), []);
    await waitUntil('the silent agent has its share', () => offersTo(silent) === UNANSWERED_OFFERS.perMember);
    clock.advance(15_000);
    await waitUntil('the rest is offered', () => offersTo(silent) === 100);
  });
});
