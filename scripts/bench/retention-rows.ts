import { newId } from '../../server/platform/core/ids.ts';
import { ENDED_RECORDS, endedThread, storeRecords } from '../../test/harness/ended-records.ts';
import type { Kind } from '../../test/harness/ended-records.ts';
import { seedManyRouters } from '../../test/harness/many-routers.ts';
import type { Row } from './report.ts';
import { onEachDatabase } from './sized-databases.ts';
import type { SizedDatabase } from './sized-databases.ts';

const ROUTERS = 100;
/** Enough that the pages of an index are filled as they are in a large one. */
const RECORDS = 5000;
/** A campaign has a row for each router. */
const CAMPAIGNS = 100;
const START = Date.UTC(2031, 0, 1);

/** Bytes of one ended record of each kind with everything that belongs to it, indexes included: docs/retention.md. */
export function retentionRows(): Promise<Row[]> {
  return onEachDatabase(measure);
}

async function measure({ engine, storage, size }: SizedDatabase): Promise<Row[]> {
  const place = await seedManyRouters(storage, ROUTERS, START);
  const groupId = newId(START);
  const group: Kind = { name: 'a group', rows: () => [['notification_groups', { id: groupId, team_id: place.teamId }]] };
  await storeRecords(storage, group, place, { at: START, count: 1 });
  const rows: Row[] = [];
  for (const kind of [...ENDED_RECORDS, endedThread(groupId)]) {
    const count = kind.name.includes('campaign') ? CAMPAIGNS : RECORDS;
    const before = await size();
    const stored = await storeRecords(storage, kind, place, { at: START, count });
    const bytes = ((await size()) - before) / count;
    const perRecord = [...stored].map(([table, all]) => `${all / count} ${table}`).join(', ');
    rows.push({ name: `${engine}: bytes of ${kind.name}`, ratio: Math.round(bytes), bar: undefined, detail: perRecord });
  }
  return rows;
}
