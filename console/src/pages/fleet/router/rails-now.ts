import type { HistoryItem, Router } from '../../../../../client/browser.ts';
import { railsOfHistory } from '../../../rails/from-history.ts';
import type { Rails } from '../../../rails/pieces.ts';

const HOUR_MS = 3_600_000;

/**
 * The last hours until now, from a history that was read a while ago: they move on while the page stays open, and stay as many.
 * @param now milliseconds since 1970
 */
export function railsNow(
  router: Pick<Router, 'created_at' | 'software_version'>,
  { states }: { states: readonly HistoryItem[] },
  now: number,
  hours: number,
): Rails {
  const time = { from: now - hours * HOUR_MS, to: now };
  const rails = railsOfHistory({ items: states, createdAt: Date.parse(router.created_at) }, time);
  const last = rails.router.findLast(({ kind }) => kind === 'heard');
  return { ...rails, router: rails.router.map((piece) => (piece === last ? { ...piece, fact: router.software_version } : piece)) };
}
