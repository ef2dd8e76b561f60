import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { kindsOf } from '../../threads/apply.ts';
import { DELIVERY_FAILING } from '../../threads/match.ts';
import type { MessageRow } from '../types.ts';
import { topicsFor } from './choose.ts';
import { selectTopicEvents } from './store.ts';

/** The topics by which a message comes. Of a failing address, administrators are told whatever they follow. */
export async function topicsOf(db: DbOrTx, message: MessageRow): Promise<string[]> {
  const { team_id: teamId, group_id: groupId } = message;
  const kinds = kindsOf(message);
  if (kinds.includes(DELIVERY_FAILING)) return [];
  return topicsFor((await selectTopicEvents(db, teamId, [groupId])).get(groupId) ?? [], kinds);
}
