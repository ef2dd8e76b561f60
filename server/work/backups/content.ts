import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { MAX_BACKUP_BYTES } from '../../../protocol/index.ts';
import { isExportText } from '../../../routeros-text/export-text.ts';
import type { BackupPart } from '../../../protocol/index.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';

/** First bytes of a binary backup: plain, or encrypted with AES. */
const MAGIC = ['88aca1b1', 'efa89172'];

/** Why a file is not of the expected kind; undefined when it is. */
export function contentProblem(part: BackupPart, content: Buffer): string | undefined {
  if (part === 'binary') return MAGIC.includes(content.toString('hex', 0, 4)) ? undefined : 'the file on the router is not a backup';
  return isExportText(content.toString('utf8')) ? undefined : 'the file on the router is not an export';
}

export function sha256Of(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Compressed, then encrypted with its backup and part as context, so that a stored file cannot be swapped for another. */
export async function seal(secrets: Pick<Secrets, 'encrypt'>, place: Place, content: Buffer): Promise<string> {
  return secrets.encrypt(purposeOf(place), await promisify(gzip)(content));
}

/** @throws AppError `internal` when it was changed or its key is gone */
export async function unseal(secrets: Pick<Secrets, 'decrypt'>, place: Place, sealed: string): Promise<Buffer> {
  const compressed = await secrets.decrypt(purposeOf(place), sealed);
  return promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip)(compressed, { maxOutputLength: MAX_BACKUP_BYTES });
}

export interface Place {
  backupId: string;
  part: BackupPart;
}

function purposeOf({ backupId, part }: Place): string {
  return `backup ${backupId} ${part}`;
}
