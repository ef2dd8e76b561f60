import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const START = 1_700_000_000_000;
const RULES = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
/** The check for faults runs this often. */
const SWEEP_MS = 10 * SECOND;

const act = fc.oneof(
  fc.record({ kind: fc.constantFrom('connect' as const, 'leave' as const, 'restart' as const, 'identify' as const) }),
  fc.record({ kind: fc.constant('report' as const), reachable: fc.boolean(), code: fc.constantFrom('timeout', 'refused', 'starting') }),
  fc.record({ kind: fc.constant('step' as const), ms: fc.integer({ min: -7_200_000, max: 7_200_000 }) }),
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;
const pause = fc.integer({ min: 0, max: 100 * SECOND });
const anything = fc.array(fc.tuple(act, pause), { minLength: 1, maxLength: 10 });
/** Long enough to become a fault, and then something else: chance alone seldom comes to it. */
const outage = fc
  .record({ kind: fc.constantFrom('leave' as const, 'silent' as const), reachable: fc.boolean() })
  .map(({ kind, reachable }) => {
    const report = (isThere: boolean): Act => ({ kind: 'report', reachable: isThere, code: 'timeout' });
    const lost: [Act, number] = kind === 'leave' ? [{ kind: 'leave' }, 120 * SECOND] : [report(false), 120 * SECOND];
    const steps: [Act, number][] = [
      [{ kind: 'connect' }, 0],
      [report(true), 0],
      lost,
      [{ kind: 'connect' }, 0],
      [report(reachable), SECOND],
    ];
    return steps;
  });
const story = fc.array(fc.oneof(anything, outage), { minLength: 2, maxLength: 6 }).map((parts) => parts.flat());

describeEachDatabase('faults and states', (open) => {
  test('property: the faults of a router and of its agent never contradict its state', async () => {
    const storage = await open();
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(story, async (acts) => {
        const clock = new ManualClock(START + 10_000_000_000 * tried);
        tried += 1;
        const place = await seedRouter(storage, { now: clock.now() });
        const connection: AgentConnection = { agentId: place.agentId, teamId: place.teamId, epoch: 1, address: '::1', reset: false };
        const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: RULES.offlineAfterMs } });
        const begin = async (): Promise<FaultsBench> => {
          const bench = new FaultsBench({ storage, clock, log: silentLog, rules: RULES, routers });
          await bench.start();
          return bench;
        };
        let bench = await begin();
        let isConnected = false;
        let startedAt = clock.monotonic();

        const report = (reachable: boolean, code: string): void => {
          const router = {
            name: `router ${place.routerId}`,
            reachable,
            uptime_seconds: null,
            reason: null,
            reason_code: code as 'timeout',
          };
          bench.onHeartbeat(connection, { type: 'heartbeat', routers: [router] });
        };
        const doIt = async (what: (typeof acts)[number][0]): Promise<void> => {
          if (what.kind === 'connect') {
            await bench.onReady(connection);
            isConnected = true;
          } else if (what.kind === 'leave' && isConnected) {
            bench.onGone(connection);
            isConnected = false;
          } else if (what.kind === 'report' && isConnected) report(what.reachable, what.code);
          else if (what.kind === 'identify' && isConnected)
            bench.onInventory(connection, await routers.getRouter(place.teamId, place.routerId));
          else if (what.kind === 'step') {
            clock.step(what.ms);
            bench.states.onClockStep(what.ms);
          } else if (what.kind === 'restart') {
            await bench.stop();
            bench = await begin();
            isConnected = false;
            startedAt = clock.monotonic();
          }
        };
        const check = async (): Promise<void> => {
          const verdict = bench.states.verdictOf(place.routerId)!;
          await bench.stored();
          const openOnes = await bench.listFaults(place.teamId, place.routerId, { limit: 10, before: undefined }, 'open');
          const has = (type: string): boolean => openOnes.some((fault) => fault.type === type);
          const lasts = clock.monotonic() - Math.max(verdict.since, startedAt);
          const told = `${verdict.state} (${verdict.reason}) for ${lasts} ms; ${openOnes.map(({ type }) => type).join()}`;
          if (verdict.state === 'answering') expect(openOnes, told).toEqual([]);
          if (verdict.state === 'never_seen') expect(openOnes, told).toEqual([]);
          if (verdict.state === 'not_answering') expect(has('agent_offline'), told).toBe(false);
          const settled = RULES.offlineAfterMs + (verdict.reason === 'not_reported' ? RULES.heartbeatMs : 0);
          if (lasts < settled && verdict.state === 'agent_away')
            expect(has('agent_offline') && startedAt < verdict.since, told).toBe(false);
          if (lasts < settled + SWEEP_MS) return;
          if (verdict.state === 'not_answering') expect(has('router_offline'), told).toBe(true);
          if (verdict.state === 'agent_away') expect(has('agent_offline'), told).toBe(true);
        };
        for (const [what, pause] of acts) {
          await doIt(what);
          await check();
          for (let left = pause; left > 0; left -= SECOND) {
            clock.advance(Math.min(left, SECOND));
            if (left % 5 === 0) await check();
          }
          await check();
        }
        await bench.stop();
        await storage.db.deleteFrom('faults').execute();
      }),
      { numRuns: 25 },
    );
  });
});
