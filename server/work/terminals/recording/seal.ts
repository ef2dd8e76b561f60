import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Secrets } from '../../../platform/storage/secrets.ts';

/** A part holds what came within a second or so, and what waited for the database. JSON makes a control character six times as long. */
const LONGEST_PART_BYTES = 16 * 1024 * 1024;

/** Compressed, then encrypted with its terminal and number as context, so that a stored part cannot be swapped for another. */
export async function sealPart(secrets: Pick<Secrets, 'encrypt'>, terminalId: string, number: number, text: string): Promise<string> {
  return secrets.encrypt(purposeOf(terminalId, number), await promisify(gzip)(text));
}

/** @throws AppError `internal` when it was changed or its key is gone */
export async function unsealPart(secrets: Pick<Secrets, 'decrypt'>, terminalId: string, number: number, sealed: string): Promise<string> {
  const compressed = await secrets.decrypt(purposeOf(terminalId, number), sealed);
  const text = await promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip)(compressed, {
    maxOutputLength: LONGEST_PART_BYTES,
  });
  return text.toString('utf8');
}

function purposeOf(terminalId: string, number: number): string {
  return `terminal ${terminalId} ${number}`;
}
