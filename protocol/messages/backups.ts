import * as z from 'zod';
import { MAX_BACKUP_BYTES } from '../limits.ts';
import { hardwareId, jobId, routerName } from './common.ts';

/**
 * Backups that a job left on its router. The server fetches them in the background. The bytes arrive as `rows` before the reply,
 * in order, each `{data}` in base64, with the flow control of every long reply. Only `backup.remove` removes the copy on the
 * router; the server sends it once the bytes are on its disk.
 */

/** `binary` and `export`: from before the script. `export_after`: from after it. */
export const backupPart = z.enum(['binary', 'export', 'export_after']);

const onRouter = { router: routerName, hardware_id: hardwareId, job_id: jobId };

export const backupReadParams = z.object({ ...onRouter, part: backupPart });
export const backupRemoveParams = z.object({ ...onRouter, parts: z.array(backupPart).max(3) });

/** Size in bytes and SHA-256 (hex) of the whole file, for the check of the rows. */
export const backupReadResult = z.object({
  method: z.literal('backup.read'),
  size: z.int().min(0).max(MAX_BACKUP_BYTES),
  sha256: z.string().length(64),
});
export const backupRemoveResult = z.object({ method: z.literal('backup.remove') });
