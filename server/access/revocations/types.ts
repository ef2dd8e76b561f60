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
