import type { FieldErrors } from '../../../platform/core/errors.ts';
import type { GroupChange } from './types.ts';

/** What a change names that the team has. */
export interface Known {
  /** Only active ones. */
  members: ReadonlySet<string>;
  topics: ReadonlySet<string>;
  sites: ReadonlySet<string>;
  schedules: ReadonlySet<string>;
}

/** As many as fit in a message that is read. */
const NAMED_AT_MOST = 5;

/** What a change names that the team does not have, by field. Something of another team looks like nothing at all. */
export function findStrangers(change: GroupChange, known: Known): FieldErrors {
  const scheduleIds = change.scheduleId ? [change.scheduleId] : [];
  const reasons: [string, string[]][] = [
    ['recipients', strangersIn(change.recipients, known.members, 'active member')],
    [
      'notifiables',
      strangersIn(
        change.notifiables?.map(({ id }) => id),
        known.members,
        'active member',
      ),
    ],
    ['topics', strangersIn(change.topics, known.topics, 'topic')],
    ['sites', strangersIn(change.sites, known.sites, 'site')],
    ['schedule_id', strangersIn(scheduleIds, known.schedules, 'schedule')],
  ];
  return Object.fromEntries(reasons.filter(([, list]) => list.length > 0));
}

function strangersIn(ids: readonly string[] = [], known: ReadonlySet<string>, what: string): string[] {
  return ids
    .filter((id) => !known.has(id))
    .slice(0, NAMED_AT_MOST)
    .map((id) => `${id} is no ${what} of this team`);
}
