import { readFile } from 'node:fs/promises';
import { AppError } from '../../../platform/core/errors.ts';
import type { UpstreamSettings } from '../types.ts';

/** @throws AppError `unavailable` for a secret that cannot be read */
export async function readUpstream(
  configured: (Omit<UpstreamSettings, 'clientSecret'> & { secretFile: string }) | null,
): Promise<UpstreamSettings | null> {
  if (configured === null) return null;
  const { secretFile, ...settings } = configured;
  try {
    return { ...settings, clientSecret: (await readFile(secretFile, 'utf8')).trim() };
  } catch (cause) {
    throw new AppError('unavailable', `cannot read ${secretFile}`, { cause });
  }
}
