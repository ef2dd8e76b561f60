import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import { RoundTrips } from '../../platform/core/round-trips.ts';
import { sweepSteps } from '../../platform/core/step-sweep.ts';
import { StepWriter } from '../../platform/core/step-writer.ts';
import type { StepKey } from '../../platform/core/step-writer.ts';
import { FINE_STEP_MS, stepStart } from '../../platform/core/time-steps.ts';
import type { StepRange, StepRetention } from '../../platform/core/time-steps.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { columnsOf, mergeSteps } from './merge.ts';
import { deleteHours, joinToHours, selectAgentIds, selectLinkSteps, upsertLinkSteps } from './store.ts';
import type { LinkPoint, LinkStepRow } from './types.ts';

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  keep: StepRetention;
}

interface Sums {
  trips: RoundTrips;
  lost: number;
}

/** How good the lines of agents are: round trips and losses of the pings that find dead links, over time. */
export class LinkQuality {
  readonly #deps: Deps;
  readonly #steps: StepWriter<Sums, LinkStepRow>;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { storage, clock, log, counters } = deps;
    this.#steps = new StepWriter({
      clock,
      log,
      counters,
      kind: 'link_steps',
      newSums: () => ({ trips: new RoundTrips(), lost: 0 }),
      rowOf,
      upsert: (rows) => storage.writes.write((tx) => upsertLinkSteps(tx, rows)),
    });
  }

  start(): void {
    this.#steps.start();
  }

  stop(): Promise<void> {
    return this.#steps.stop();
  }

  /** @param roundTripMs null for a ping without an answer */
  onPing(agentId: string, roundTripMs: number | null): void {
    const sums = this.#steps.sumsOf(agentId);
    if (roundTripMs === null) sums.lost += 1;
    else sums.trips.add(roundTripMs);
  }

  /** Steps with at least one ping, oldest first. The caller knows that the agent is the team's. */
  async points(teamId: string, agentId: string, range: StepRange): Promise<LinkPoint[]> {
    await this.#steps.stored(agentId);
    const rows = await selectLinkSteps(this.#deps.storage.db, { teamId, agentId }, range);
    const within = rows.filter(({ at, span_s: seconds }) => at + seconds * 1000 > range.from);
    const steps = Map.groupBy(within, ({ at }) => stepStart(at, range.stepMs));
    return [...steps].map(([at, parts]) => pointOf(at, range.stepMs, parts));
  }

  /** Joins older steps to hours, and deletes old hours. */
  sweep(): Promise<void> {
    const { storage, clock, keep } = this.#deps;
    return sweepSteps({
      clock,
      keep,
      selectIds: (after, limit) => selectAgentIds(storage.db, after, limit),
      join: (agentIds, { fineBefore, part, hoursBefore }) =>
        storage.writes.write(async (tx) => {
          await joinToHours(tx, agentIds, fineBefore, part);
          await deleteHours(tx, agentIds, hoursBefore);
        }),
    });
  }
}

function rowOf({ subject, at, part }: StepKey, { trips, lost }: Sums): LinkStepRow {
  return { agent_id: subject, span_s: FINE_STEP_MS / 1000, at, part, ...columnsOf(trips, lost) };
}

function pointOf(at: number, stepMs: number, parts: readonly LinkStepRow[]): LinkPoint {
  const { columns, trips } = mergeSteps(parts);
  const [min, p50, p95] = [trips.min, trips.quantile(0.5), trips.quantile(0.95)];
  return {
    from: at,
    to: Math.max(at + stepMs, ...parts.map((part) => part.at + part.span_s * 1000)),
    pingsAnswered: columns.answered,
    pingsLost: columns.lost,
    roundTrip: min === null || p50 === null || p95 === null ? null : { min, p50, p95 },
  };
}
