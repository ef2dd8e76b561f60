import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { findPage, isAmong, ofTeam } from '../../../platform/storage/list-query.ts';
import type { FaultRecord } from '../types.ts';
import type { FaultFilter } from './types.ts';

export async function findFaults(
  db: Db,
  teamId: string,
  filter: FaultFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<FaultRecord>> {
  const { status, severities, types } = filter;
  let faults = db.selectFrom('faults').selectAll().$call(ofTeam(teamId, filter));
  if (status) faults = faults.where('resolved_at', status === 'open' ? 'is' : 'is not', null);
  // One query for each wanted type or, if no type is named, for each severity; the rest is looked at row by row.
  const column = types.only.length > 0 ? 'type' : 'severity';
  const wanted = types.only.length > 0 ? types.only : severities.only;
  for (const condition of [
    isAmong('type', { ...types, only: [] }),
    isAmong('severity', { only: column === 'type' ? severities.only : [], not: severities.not }),
  ]) {
    if (condition) faults = faults.where(condition);
  }
  const queries =
    wanted.length === 0 ? [faults] : [...new Set(wanted)].map((value) => faults.where(sql<SqlBool>`${sql.ref(column)} = ${value}`));
  return findPage(db, queries, { page, value: sql.ref('created_at'), valueOf: (fault) => fault.created_at, wantsTotal });
}
