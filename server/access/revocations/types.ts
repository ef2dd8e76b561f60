import { z } from 'zod';

/** Ids per list of a report; beyond this only the number is stored. */
export const MOST_LISTED = 100;

const some = z.object({ count: z.number(), ids: z.array(z.string()).max(MOST_LISTED) });
export type Some = z.infer<typeof some>;

export const NOTHING: Some = { count: 0, ids: [] };

/** What a revocation ended, and what continues after it. */
export const reportSchema = z.object({
  // Reports that were stored before terminals were counted have none.
  ended: z.object({ forwards: some, jobs: some, campaigns: some, terminals: some.default(NOTHING), api_keys: some }),
  goes_on: z.object({
    /** Their scripts have begun, or may have: they cannot be canceled. */
    jobs: some,
    /** Created by the subject of the revocation. */
    api_keys: some,
  }),
});
export type Report = z.infer<typeof reportSchema>;

/** Adds what is not listed yet. */
export function add(before: Some, ids: readonly string[]): Some {
  const isNew = ids.filter((id) => !before.ids.includes(id));
  return { count: before.count + isNew.length, ids: [...before.ids, ...isNew].slice(0, MOST_LISTED) };
}

/** What two control planes have ended in the same pass: what one of them has ended, the other found ended or under way. */
export function mergeReports(one: Report, other: Report): Report {
  const both = (kind: keyof Report['ended']): Some => add(one.ended[kind], other.ended[kind].ids);
  const ended = {
    forwards: both('forwards'),
    jobs: both('jobs'),
    campaigns: both('campaigns'),
    terminals: both('terminals'),
    api_keys: both('api_keys'),
  };
  const goesOn = (kind: keyof Report['goes_on']): Some => {
    const ids = add(one.goes_on[kind], other.goes_on[kind].ids).ids.filter((id) => !ended[kind].ids.includes(id));
    return { count: ids.length, ids };
  };
  return { ended, goes_on: { jobs: goesOn('jobs'), api_keys: goesOn('api_keys') } };
}

export const KINDS = ['api_key', 'member', 'password', 'client', 'agent'] as const;
export type Kind = (typeof KINDS)[number];

export interface Revocation {
  id: string;
  teamId: string;
  kind: Kind;
  subjectId: string;
  createdAt: number;
  revokeKeys: boolean;
  passes: number;
  /** Time of the next pass, milliseconds; null after the last one. */
  dueAt: number | null;
  report: Report;
}
