import type { FieldErrors } from '../../../platform/core/errors.ts';
import type { GroupChange } from './types.ts';

/** The references of a change that exist in the team. */
export interface Known {
  /** Only active ones. */
  members: ReadonlySet<string>;
  topics: ReadonlySet<string>;
  sites: ReadonlySet<string>;
  schedules: ReadonlySet<string>;
  targets: ReadonlySet<string>;
  groups: ReadonlySet<string>;
}

/** Most ids named in an error message. */
const NAMED_AT_MOST = 5;

/** References of a change that the team does not have, by field. A record of another team looks like a missing one. */
export function findUnknownReferences(change: GroupChange, known: Known): FieldErrors {
  const scheduleIds = change.scheduleId ? [change.scheduleId] : [];
  const groupIds = change.escalateTo ? [change.escalateTo] : [];
  const reasons: [string, string[]][] = [
    ['recipients', unknownIn(change.recipients, known.members, 'an active member')],
    [
      'notifiables',
      unknownIn(
        change.notifiables?.map(({ id }) => id),
        known.members,
        'an active member',
      ),
    ],
    ['topics', unknownIn(change.topics, known.topics, 'a topic')],
    ['sites', unknownIn(change.sites, known.sites, 'a site')],
    ['schedule_id', unknownIn(scheduleIds, known.schedules, 'a schedule')],
    ['targets', unknownIn(change.targets, known.targets, 'a notification target')],
    ['escalate_to', unknownIn(groupIds, known.groups, 'a group')],
  ];
  return Object.fromEntries(reasons.filter(([, list]) => list.length > 0));
}

function unknownIn(ids: readonly string[] = [], known: ReadonlySet<string>, what: string): string[] {
  return ids
    .filter((id) => !known.has(id))
    .slice(0, NAMED_AT_MOST)
    .map((id) => `${id} is not ${what} of this team`);
}
