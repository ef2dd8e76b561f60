import { beforeAll, expect, test } from 'vitest';
import { selectAuditEntries } from '../../server/access/audit/store.ts';
import type { AuditEntry, AuditFilter } from '../../server/access/audit/types.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedTeam } from '../harness/seed.ts';

const START = 1_700_000_000_000;
const ACTIONS = ['POST /api/synchronous/:router_id', 'POST /api/campaigns', 'PATCH /api/routers/:router_id', 'failed login'];
const COUNT = 6000;

/** Entries of busy programs, and one of somebody who did one thing long ago. */
function entriesOf(teamId: string): AuditEntry[] {
  const entry = { team_id: teamId, actor_kind: 'api_key', source: '192.0.2.1', target: null, result: 200 };
  const busy = Array.from({ length: COUNT }, (_, index) => {
    const at = START + Math.floor(index / 3);
    return { ...entry, id: newId(at), at, actor_id: `key ${index % 5}`, action: ACTIONS[((index * 7) % 31) % ACTIONS.length]! };
  });
  return [{ ...entry, id: newId(START), at: START, actor_id: 'rare', action: 'DELETE /api/members/:user_id' }, ...busy];
}

const FILTERS: [string, AuditFilter][] = [
  ['everything', {}],
  ['a time', { since: START + 100, until: START + 900 }],
  ['an action of nobody', { action: 'GET' }],
  ['a rare action', { action: 'DELETE' }],
  ['most actions', { action: 'P' }],
  ['a whole action', { action: 'POST /api/campaigns' }],
  ['a rare actor', { actor: 'rare' }],
  ['a busy actor', { actor: 'key 3' }],
  ['nobody', { actor: 'nobody' }],
  ['an actor and an action', { actor: 'key 3', action: 'PATCH' }],
  ['an actor, an action and a time', { actor: 'key 3', action: 'P', since: START + 100, until: START + 900 }],
];

describeEachDatabase('the audit log of a busy team', (open) => {
  let storage: Storage;
  let mine: AuditEntry[];
  let teamId: string;

  beforeAll(async () => {
    storage = await open();
    ({ teamId } = await seedTeam(storage));
    const { teamId: other } = await seedTeam(storage);
    mine = entriesOf(teamId);
    for (const chunk of inChunks([...mine, ...entriesOf(other)])) await storage.db.insertInto('audit_log').values(chunk).execute();
    await learnSizes(storage);
  });

  /** What the list is, by definition. */
  function expected({ actor, action = '', since = 0, until = Infinity }: AuditFilter): string[] {
    return mine
      .filter((one) => (actor === undefined || one.actor_id === actor) && one.action.startsWith(action))
      .filter(({ at }) => at >= since && at < until)
      .toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
  }

  test.each(FILTERS)('%s: the pages together are the list', async (_name, filter) => {
    const all = expected(filter);
    let before: { at: number; id: string } | undefined;
    for (let from = 0; from < Math.min(all.length, 700) || from === 0; from += 233) {
      const page = await selectAuditEntries(storage, teamId, filter, { limit: 233, before });
      expect(page.map(({ id }) => id)).toEqual(all.slice(from, from + 233));
      const last = page.at(-1);
      if (!last) break;
      before = { at: last.at, id: last.id };
    }
  });

  test.each(FILTERS)('%s: read by an index in the order of the list, wherever the page begins', async (_name, filter) => {
    for (const before of [undefined, { at: START + 50, id: mine[150]!.id }]) {
      const plans = await plansOf(storage, (db) =>
        selectAuditEntries({ db, engine: storage.engine }, teamId, filter, { limit: 50, before }),
      );
      expect(plans.length).toBeGreaterThan(0);
      for (const { reads, sorted, text } of plans) {
        for (const { index, condition } of reads.filter(({ table }) => table === 'audit_log')) {
          expect(index, text).not.toBeNull();
          // The entries of a page by their ids, or a part of an index that the filter names.
          if (!/^\(?id\b/.test(condition)) expect(condition, text).toMatch(/team_id/);
          if (before && /action|actor/.test(condition)) expect(condition, text).toMatch(/\bat\b|action >|action>/i);
        }
        expect(sorted, text).toBeLessThanOrEqual(50);
      }
    }
  });
});
