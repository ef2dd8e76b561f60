import { newId } from '../core/ids.ts';
import type { Tx } from './db.ts';

/** Whose right it is that was taken away or lowered; `password`: the sessions of a person, who has a new one. */
export type RevocationKind = 'api_key' | 'member' | 'password' | 'client' | 'agent';

/**
 * Notes that somebody may do less from now on, in the transaction that decides it. The control plane that serves this
 * database then looks whether they may still operate routers, and ends what they opened if not (server/access/revocations).
 * Call it for every such change; of one that changes nothing that matters, nothing comes.
 */
export async function noteRevocation(
  tx: Tx,
  change: { teamId: string; kind: RevocationKind; subjectId: string; now: number; revokeKeys?: boolean },
): Promise<void> {
  await tx
    .insertInto('revocations')
    .values({
      id: newId(change.now),
      team_id: change.teamId,
      kind: change.kind,
      subject_id: change.subjectId,
      created_at: change.now,
      revoke_keys: change.revokeKeys === true ? 1 : 0,
      passes: 0,
      due_at: change.now,
      report: null,
    })
    .execute();
}
