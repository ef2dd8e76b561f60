import type { Member } from '../../../../../client/browser.ts';
import type { RecordList } from '../../../data/use-list.ts';
import { useList } from '../../../data/use-list.ts';

/** Members of the team: all of nearly every team. */
export function useMembers(): RecordList<Member> {
  return useList('members', 'listMembers', { query: { limit: 200 } });
}

/** Whether the team has no other active administrator. False as long as not all members are known. */
export function isOnlyAdmin(member: Member, { records, hasMore }: Pick<RecordList<Member>, 'records' | 'hasMore'>): boolean {
  const isAdmin = ({ role, active }: Member): boolean => role === 'admin' && active;
  return isAdmin(member) && !hasMore && !records.some((other) => other.id !== member.id && isAdmin(other));
}
