import { sql } from 'kysely';
import type { SqlBool } from 'kysely';

/**
 * No message of the row of `threads` is to be sent, alone or in a digest: it is written from its thread when that happens. `digest_id` is the
 * thread of the digest, which has a message for each browser or address of its reader.
 */
export const NO_MESSAGE_WAITS = sql<SqlBool>`not exists (
  select 1 from messages left join messages as digest on digest.thread_id = messages.digest_id
  where messages.thread_id = threads.id
  and (messages.due_at is not null or messages.digest_at is not null or digest.due_at is not null))`;
