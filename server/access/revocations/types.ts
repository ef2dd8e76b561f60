import { z } from 'zod';

/** Ids in one list of a report; of more only the number is kept. */
export const MOST_LISTED = 100;

const some = z.object({ count: z.number(), ids: z.array(z.string()).max(MOST_LISTED) });
export type Some = z.infer<typeof some>;

/** What a revocation has ended, and what goes on although its holder is gone. */
export const reportSchema = z.object({
  ended: z.object({ forwards: some, jobs: some, campaigns: some, api_keys: some }),
  goes_on: z.object({
    /** Their scripts have begun, or may have: nothing can recall them. */
    jobs: some,
    /** Made by the one whose right was taken away. */
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
  /** Null once nothing more is looked for. */
  dueAt: number | null;
  report: Report;
}
