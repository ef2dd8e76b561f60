import type { Storage } from '../storage/db.ts';
import type { AuditEntry } from './types.ts';

export async function insertAuditEntries(storage: Storage, entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await storage.writes.write(async (tx) => {
    await tx.insertInto('audit_log').values(entries).execute();
  });
}
