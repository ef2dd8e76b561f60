import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { NotifyInstances } from '../harness/notify/instances.ts';
import { arrivalsAt } from '../harness/notify/pipelines.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** `test/long/notify-processes.long.ts` does it with 1,000 facts, with three and with processes that are killed. */

const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres)('two control planes on one PostgreSQL', () => {
  test('tell 100 facts together: none is lost, and none arrives twice', async () => {
    const database = await postgres!.createMigrated();
    onTestFinished(() => database.remove());
    const instances = await NotifyInstances.start({ databaseUrl: database.url, count: 2, teams: 5 });
    onTestFinished(() => instances.close());
    await instances.tell(20);
    await waitUntil('all are sent', async () => (await instances.countSent()) === 100);
    expect(arrivalsAt(instances.receiver)).toEqual({ requests: 100, ids: 100, threads: 100 });
  });
});
