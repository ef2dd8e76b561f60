import { expect, test } from 'vitest';

import { migrate, programSchema, refuseNewer, schemaOf } from '../../server/platform/storage/migrate.ts';
import { migrations } from '../../server/platform/storage/migrations/index.ts';
import type { Migration } from '../../server/platform/storage/migrations/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';

const known = programSchema();
const step = (number: number, expands: boolean): Migration => ({
  number,
  name: 'later',
  expands,
  statements: () => [`create table t${number} (id integer)`],
});

describeEachDatabase('programs of two versions on one database', (open) => {
  const member = (programSchemaOfIt: number | null) => ({
    id: 'old',
    name: 'web-2, process 5',
    version: '0.1.0',
    process: null,
    public_url: 'https://node.example',
    beat: 0,
    started_at: 0,
    keys: null,
    program_schema: programSchemaOfIt,
  });

  test('an older program starts on a schema that was only expanded, and not on one that was contracted', async () => {
    const storage = await open();
    const expanded = [...migrations, step(known + 1, true)];
    expect(await migrate(storage, expanded)).toEqual([known + 1]);
    expect(await migrate(storage)).toEqual([]);
    await refuseNewer(storage.db, await schemaOf(storage.db), known);
    const contracted = [...expanded, step(known + 2, false), step(known + 3, true)];
    expect(await migrate(storage, contracted)).toEqual([known + 2, known + 3]);
    await expect(migrate(storage)).rejects.toMatchObject({ code: 'conflict' });
    // Whoever knows the contracting step may run on what was added after it.
    expect(await migrate(storage, contracted.slice(0, -1))).toEqual([]);
  });

  test('a step that older members cannot stand waits for their end; one that only adds does not', async () => {
    const storage = await open();
    await storage.db.insertInto('nodes').values(member(known)).execute();
    const expanded = [...migrations, step(known + 1, true)];
    await migrate(storage, expanded);
    const contracted = [...expanded, step(known + 2, false)];
    await expect(migrate(storage, contracted)).rejects.toMatchObject({ message: expect.stringContaining('web-2, process 5') as string });
    expect(await schemaOf(storage.db)).toBe(known + 1);
    await storage.db.deleteFrom('nodes').execute();
    await storage.db
      .insertInto('nodes')
      .values(member(known + 2))
      .execute();
    expect(await migrate(storage, contracted)).toEqual([known + 2]);
  });

  test('released steps that say so only add', async () => {
    const storage = await open();
    const adds = /^\s*(create (unique )?(table|index)|alter table \w+ add column)\b/i;
    // Only SQLite has triggers of one statement, and one control plane at a time: an older program knows nothing of what they do.
    const remakes = /^\s*((create|drop) trigger|insert into search_positions)\b/i;
    const triggersOf = (made: readonly string[], verb: 'create' | 'drop'): string[] =>
      made.flatMap((statement) => new RegExp(`^\\s*${verb} trigger (\\w+)`, 'i').exec(statement)?.[1] ?? []);
    for (const { expands, name, statements } of migrations) {
      if (!expands) continue;
      const made = statements(storage.engine);
      // None is taken away without another in its place.
      expect(triggersOf(made, 'create'), name).toEqual(expect.arrayContaining(triggersOf(made, 'drop')));
      for (const statement of made) {
        if (storage.engine === 'sqlite' && remakes.test(statement)) continue;
        expect(statement, name).toMatch(adds);
        const isColumn = /add column/i.test(statement);
        expect(!isColumn || !/not null/i.test(statement) || /default/i.test(statement), statement).toBe(true);
      }
    }
  });
});
