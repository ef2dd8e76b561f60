import * as z from 'zod';
import { MAX_BACKUP_BYTES } from '../limits.ts';
import { hardwareId, jobId, routerName } from './common.ts';

/**
 * Backups that a job left on its router, and those that were taken without one. The server fetches them in the background. The bytes arrive as `rows` before the reply,
 * in order, each `{data}` in base64, with the flow control of every long reply. Only `backup.remove` removes the copy on the
 * router; the server sends it once the bytes are on its disk.
 */

/** `binary` and `export`: from before the script. `export_after`: from after it. */
export const backupPart = z.enum(['binary', 'export', 'export_after']);

const onRouter = { router: routerName, hardware_id: hardwareId, job_id: jobId };

export const backupReadParams = z.object({ ...onRouter, part: backupPart });
/** Saves the parts now, under this id in place of a job's: the server reads and removes them like those of a job. */
export const backupTakeParams = z.object({
  ...onRouter,
  parts: z
    .array(z.enum(['binary', 'export']))
    .min(1)
    .max(2),
});
export const backupRemoveParams = z.object({ ...onRouter, parts: z.array(backupPart).max(3) });

/** Size in bytes and SHA-256 (hex) of the whole file, for the check of the rows. */
export const backupReadResult = z.object({
  method: z.literal('backup.read'),
  size: z.int().min(0).max(MAX_BACKUP_BYTES),
  sha256: z.string().length(64),
});
export const backupTakeResult = z.object({ method: z.literal('backup.take') });
export const backupRemoveResult = z.object({ method: z.literal('backup.remove') });
