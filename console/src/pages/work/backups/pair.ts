import type { Backup } from '../../../../../client/browser.ts';

/** `OLDER..NEWER` in the address of a comparison. */
export function readPair(pair: string): { from: string; to: string } | undefined {
  const [from, to, ...rest] = pair.split('..');
  return from && to && rest.length === 0 ? { from, to } : undefined;
}

export function pairOf(from: string, to: string): string {
  return `${from}..${to}`;
}

/** Only stored exports can be compared. */
export function isComparable({ state, parts }: Backup): boolean {
  return state === 'stored' && parts.some(({ part }) => part !== 'binary');
}

/**
 * The two that a comparison takes, older first, when the reader has picked some.
 * @param backups newest first
 */
export function pickedPair(backups: readonly Backup[], picked: readonly string[]): { from: string; to: string } | undefined {
  const chosen = backups.filter((backup) => picked.includes(backup.id) && isComparable(backup));
  const [newer, older] = chosen.length === 2 ? chosen : [];
  return newer && older ? { from: older.id, to: newer.id } : undefined;
}

const ORIGINS: Record<Backup['origin'], string> = { job: 'before a job', request: 'by hand', schedule: 'every night' };

export function originWords({ origin }: Pick<Backup, 'origin'>): string {
  return ORIGINS[origin];
}
