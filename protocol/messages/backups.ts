import * as z from 'zod';
import { MAX_BACKUP_BYTES } from '../limits.ts';
import { hardwareId, jobId, routerName } from './common.ts';

/**
 * Backups that a job left on its router. The server asks for them when it has time; the bytes come as `rows` ahead of
 * the reply, in order, each `{data}` in base64, under the flow control of every long reply. The router's own copy is
 * removed only by `backup.remove`, which the server sends once it has the bytes on disk.
 */

/** `binary` and `export`: from before the script. `export_after`: from after it. */
export const backupPart = z.enum(['binary', 'export', 'export_after']);

const onRouter = { router: routerName, hardware_id: hardwareId, job_id: jobId };

export const backupReadParams = z.object({ ...onRouter, part: backupPart });
export const backupRemoveParams = z.object({ ...onRouter, parts: z.array(backupPart).max(3) });

/** What the rows together must be. */
export const backupReadResult = z.object({
  method: z.literal('backup.read'),
  size: z.int().min(0).max(MAX_BACKUP_BYTES),
  sha256: z.string().length(64),
});
export const backupRemoveResult = z.object({ method: z.literal('backup.remove') });
