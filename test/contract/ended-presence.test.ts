import { expect, test } from 'vitest';
import { endPresent } from '../../server/fleet/removals/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';

const NOW = 1_700_000_000_000;

describeEachDatabase('backups of a router that is removed or replaced', (open) => {
  test('are lost unless they are stored, and none is fetched or tidied up any more', async () => {
    const storage = await open();
    const { teamId, routerId } = await seedRouter(storage);
    const neighbour = await seedRouter(storage, { teamId });
    const backup = { team_id: teamId, job_id: null, origin: 'request', wanted: null, error: null, attempts: 0, stored_at: null };
    const stored = { state: 'stored', stored_at: 2 };
    const kinds = {
      waits: { state: 'pending', due_at: 1 },
      'waits for tidying': { ...stored, due_at: 1, error: 'the export has 1 MB' },
      stored: { ...stored, due_at: null },
      given_up: { state: 'lost', due_at: null, error: 'it did not come' },
      'of another router': { state: 'pending', due_at: 1, router_id: neighbour.routerId },
    };
    const rows = Object.entries(kinds).map(([id, kind]) => ({ ...backup, created_at: NOW, router_id: routerId, id, ...kind }));
    for (const row of rows) await storage.db.insertInto('backups').values(row).execute();
    await storage.writes.write((tx) => endPresent(tx, { teamId, routerId, now: NOW }));
    const left = await storage.db.selectFrom('backups').select(['id', 'state', 'due_at', 'error', 'stored_at']).orderBy('id').execute();
    expect(left).toEqual([
      { id: 'given_up', state: 'lost', due_at: null, error: 'it did not come', stored_at: null },
      { id: 'of another router', state: 'pending', due_at: 1, error: null, stored_at: null },
      { id: 'stored', state: 'stored', due_at: null, error: null, stored_at: 2 },
      {
        id: 'waits',
        state: 'lost',
        due_at: null,
        error: 'the router was removed or replaced before its backup was fetched',
        stored_at: null,
      },
      { id: 'waits for tidying', state: 'stored', due_at: null, error: 'the export has 1 MB', stored_at: 2 },
    ]);
  });
});
