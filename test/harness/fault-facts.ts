import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import type { ManualClock } from './manual-clock.ts';
import type { NotifyBench } from './notify-bench.ts';

/** Faults of routers of one team with the notices that their feature would write. */
export class FaultFacts {
  readonly #storage: Storage;
  readonly #clock: ManualClock;
  readonly #bench: NotifyBench;
  readonly #teamId: string;
  readonly #versions = new Map<string, number>();

  constructor(storage: Storage, clock: ManualClock, bench: NotifyBench, teamId: string) {
    this.#storage = storage;
    this.#clock = clock;
    this.#bench = bench;
    this.#teamId = teamId;
  }

  fault(phase: 'open' | 'resolve', routerId: string, type = 'router_offline', severity: NewNotice['severity'] = 'critical'): NewNotice {
    const recordId = `${routerId} ${type}`;
    const version = (this.#versions.get(recordId) ?? 0) + 1;
    this.#versions.set(recordId, version);
    return {
      teamId: this.#teamId,
      kind: `fault.${type}`,
      phase,
      severity,
      key: `router:${routerId}:${type}`,
      recordId,
      version,
      routerId,
      at: this.#clock.now(),
      data: { message: 'The router is offline', cause: 'it does not answer' },
    };
  }

  /** Stores notices with the faults behind them. */
  async happen(...notices: NewNotice[]): Promise<void> {
    const now = this.#clock.now();
    for (const { teamId, recordId, routerId, kind, severity, phase } of notices) {
      const row = {
        team_id: teamId,
        router_id: routerId!,
        type: kind.slice('fault.'.length),
        severity,
        message: '',
        cause: '',
        occurrences: 1,
      };
      const times = { created_at: now, updated_at: now, resolved_at: phase === 'open' ? null : now };
      await this.#storage.db
        .insertInto('faults')
        .values({ id: recordId, ...row, ...times })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ resolved_at: times.resolved_at }))
        .execute();
    }
    await this.#bench.facts(notices);
  }
}
