import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { newId } from '../../server/platform/core/ids.ts';
import { auditOfRouters } from '../../server/platform/storage/migrations/0033-audit-of-routers.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedTeam } from '../harness/seed.ts';

const ROUTER = '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24';

describeEachDatabase('the migration that names the router of audit entries', (open) => {
  test('finds the id in paths that begin with it, and no other', async () => {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const { db } = storage;
    const targets: [string | null, string | null][] = [
      [`/api/routers/${ROUTER}`, ROUTER],
      [`/api/routers/${ROUTER}/transient-forwarding`, ROUTER],
      [`/api/synchronous/${ROUTER.toUpperCase()}`, ROUTER],
      [`/api/asynchronous/${ROUTER}`, ROUTER],
      ['/api/routers/edge-berlin-with-a-name-as-long-as-an-id/jobs', null],
      ['/api/routers/short', null],
      [`/api/agents/${ROUTER}`, null],
      [null, null],
    ];
    await db
      .insertInto('audit_log')
      .values(
        targets.map(([target], index) => ({
          id: newId(index),
          team_id: teamId,
          at: index,
          actor_kind: 'user',
          actor_id: 'u',
          source: '::1',
          action: 'PATCH',
          target,
          result: 200,
          detail: null,
          router_id: null,
        })),
      )
      .execute();
    // Everything but the column, which is there already.
    const [, ...statements] = auditOfRouters.statements(storage.engine);
    for (const statement of statements.filter((text) => text.startsWith('update'))) await sql.raw(statement).execute(db);
    const rows = await db.selectFrom('audit_log').select(['router_id']).orderBy('at').execute();
    expect(rows.map(({ router_id: id }) => id)).toEqual(targets.map(([, id]) => id));
  });
});
