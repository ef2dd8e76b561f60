import * as z from 'zod';
import { isOneLine, ONE_LINE } from '../routeros-text/router-text.ts';

/** `POST /agent/v1/enrol`: exchanges a one-use token for the credentials of a new agent. */
export const enrolRequest = z.strictObject({
  token: z.string().min(1).max(512),
  /** Display name of the agent; the host name by default. */
  name: z.string().min(1).max(255).refine(isOneLine, ONE_LINE),
});

export const enrolResponse = z.object({
  agent_id: z.uuid(),
  /** Shown once; the server keeps only its SHA-256. */
  secret: z.string().min(1).max(512),
});

export type EnrolResponse = z.infer<typeof enrolResponse>;
