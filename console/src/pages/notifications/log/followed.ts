import type { NotificationThreadWithItems } from '../../../../../client/browser.ts';
import type { Names } from '../sentence.ts';
import { covers } from '../topics/kinds.ts';

/** Names of the topics of a thread's group that have what is in the thread. */
export function topicsOf(
  { group_id: groupId, kind, items }: Pick<NotificationThreadWithItems, 'group_id' | 'kind' | 'items'>,
  { groups, topics }: Pick<Names, 'groups' | 'topics'>,
): string[] {
  const kinds = [...new Set([kind, ...items.map((item) => item.kind)])].filter((one) => one.includes('.'));
  const followed = (groups.get(groupId)?.topics ?? []).flatMap((id) => topics.get(id) ?? []);
  return followed.filter(({ events }) => events.some((event) => kinds.some((one) => covers(event, one)))).map(({ name }) => name);
}
