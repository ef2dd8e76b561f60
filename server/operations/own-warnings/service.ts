import type { Clock } from '../../platform/core/clock.ts';
import { sayCauses } from '../../platform/notices/causes.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import { insertNotices, selectLastNotice } from '../../platform/notices/store.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import type { Conditions } from './conditions.ts';
import { selectListeningTeams } from './store.ts';

export interface OwnWarningsDeps {
  storage: Storage;
  clock: Clock;
  read: (now: number) => Promise<Conditions>;
}

/**
 * Tells groups that follow `server.certificate` or `server.disk` when a control plane's own certificate or disk needs somebody, and when none
 * does any more. What was told last is in the notices, so any process may look, after any restart.
 */
export class OwnWarnings {
  readonly #deps: OwnWarningsDeps;

  constructor(deps: OwnWarningsDeps) {
    this.#deps = deps;
  }

  /** @throws a storage error, or when a file cannot be read; the next look tries again */
  async check(): Promise<void> {
    const { storage, clock, read } = this.#deps;
    const conditions = await read(clock.now());
    for (const teamId of await selectListeningTeams(storage.db))
      for (const name of ['certificate', 'disk'] as const)
        await storage.writes.write((tx) => tellChange(tx, teamId, { name, causes: conditions[name] }, clock.now()));
  }
}

async function tellChange(
  tx: Tx,
  teamId: string,
  { name, causes }: { name: keyof Conditions; causes: readonly Cause[] },
  now: number,
): Promise<void> {
  const kind = `server.${name}` as const;
  const last = await selectLastNotice(tx, teamId, kind);
  const isOpen = last?.phase === 'open';
  if (isOpen === causes.length > 0) return;
  const notice = {
    teamId,
    kind,
    phase: causes.length === 0 ? 'resolve' : 'open',
    severity: 'warning',
    key: `server:${name}`,
    recordId: kind,
    version: 'next',
    at: now,
    data: { detail: sayCauses(causes) },
    causes,
  } as const;
  await insertNotices(tx, [notice], now);
}
