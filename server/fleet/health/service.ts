import type { Health } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import { sweepSteps } from '../../platform/core/step-sweep.ts';
import { StepWriter } from '../../platform/core/step-writer.ts';
import type { StepKey } from '../../platform/core/step-writer.ts';
import { FINE_STEP_MS } from '../../platform/core/time-steps.ts';
import type { StepRange, StepRetention } from '../../platform/core/time-steps.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { RoutersService } from '../routers/service.ts';
import { HealthSums } from './readings.ts';
import { deleteHours, joinToHours, selectHealthSteps, selectRouterIds, upsertHealthSteps } from './store.ts';
import type { MergedStep } from './store.ts';
import { MEASUREMENTS, UNITS } from './types.ts';
import type { HealthPoint, HealthStepRow, Measurement, Spread } from './types.ts';

/** Agents report every minute. One that reports more often does not weigh more, and its sums stay within the columns. */
const LEAST_APART_MS = 10_000;

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  routers: Pick<RoutersService, 'routerIdOf'>;
  keep: StepRetention;
}

/** What agents report of routers' health, over time. */
export class RouterHealth {
  readonly #deps: Deps;
  readonly #steps: StepWriter<HealthSums, HealthStepRow>;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { storage, clock, log, counters } = deps;
    this.#steps = new StepWriter({
      clock,
      log,
      counters,
      kind: 'health_steps',
      newSums: () => new HealthSums(),
      rowOf,
      upsert: (rows) => storage.writes.write((tx) => upsertHealthSteps(tx, rows)),
    });
  }

  start(): void {
    this.#steps.start();
  }

  stop(): Promise<void> {
    return this.#steps.stop();
  }

  onHealth({ agentId }: AgentConnection, { router, readings }: Health): void {
    const { routers, clock } = this.#deps;
    const routerId = routers.routerIdOf(agentId, router);
    if (routerId === undefined) return;
    const sums = this.#steps.sumsOf(routerId);
    const now = clock.monotonic();
    if (now - sums.takenAt < LEAST_APART_MS) return;
    sums.takenAt = now;
    sums.add(readings);
  }

  /** Steps in which something was reported, oldest first. The caller knows that the router is the team's. */
  async points(teamId: string, routerId: string, range: StepRange): Promise<HealthPoint[]> {
    await this.#steps.stored(routerId);
    const rows = await selectHealthSteps(this.#deps.storage.db, { teamId, routerId }, range);
    return rows.map((row) => pointOf(row, range.stepMs));
  }

  /** Joins older steps to hours, and deletes old hours. */
  sweep(): Promise<void> {
    const { storage, clock, keep } = this.#deps;
    return sweepSteps({
      clock,
      keep,
      selectIds: (after, limit) => selectRouterIds(storage.db, after, limit),
      join: (routerIds, { fineBefore, part, hoursBefore }) =>
        storage.writes.write(async (tx) => {
          await joinToHours(tx, routerIds, fineBefore, part);
          await deleteHours(tx, routerIds, hoursBefore);
        }),
    });
  }
}

function rowOf({ subject, at, part }: StepKey, sums: HealthSums): HealthStepRow {
  return { router_id: subject, span_s: FINE_STEP_MS / 1000, at, part, ...sums.columns };
}

function pointOf(row: MergedStep, stepMs: number): HealthPoint {
  const spreads = MEASUREMENTS.map((name) => [name, spreadOf(row, name)]);
  const point = Object.fromEntries(spreads) as Record<Measurement, Spread | null>;
  return { from: row.at, to: Math.max(row.at + stepMs, row.until), ...point };
}

function spreadOf(row: MergedStep, name: Measurement): Spread | null {
  const [min, max] = [row[`${name}_min`], row[`${name}_max`]];
  if (min === null || max === null) return null;
  const unit = UNITS[name];
  return { min: min / unit, mean: Math.round(row[`${name}_sum`] / row[`${name}_count`]) / unit, max: max / unit };
}
