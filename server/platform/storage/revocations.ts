import { newId } from '../core/ids.ts';
import type { Tx } from './db.ts';

/** The subject whose right was lowered or removed; `password`: a person with a new password, whose sessions end. */
export type RevocationKind = 'api_key' | 'member' | 'password' | 'client' | 'agent';

/**
 * Inserts a revocation in the transaction that lowers or removes a right. The control plane on this database then checks whether its
 * subject may still operate routers, and otherwise ends what they opened (server/access/revocations). Call it for every such change;
 * a change without effect on what is open ends nothing.
 */
export async function insertRevocation(
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
