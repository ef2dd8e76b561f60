import { useLive } from '../data/use-fleet.ts';
import { lengthOf } from '../parts/times.ts';
import { useBrowserNow } from '../parts/use-now.ts';
import { words } from './words.ts';

/** The server sends something every 15 s. After this the stream counts as broken, milliseconds. */
const BROKEN_AFTER_MS = 20_000;

/** Whether this page hears of changes. Blindness of ours is no outage of theirs: nothing else on the page changes because of it. */
export function LiveMark() {
  const live = useLive();
  const now = useBrowserNow(1000);
  if (live.kind === 'refused') return <Says isLive={false}>{words.live.refused(live.message)}</Says>;
  if (live.kind === 'connecting') return <Says isLive={false}>{words.live.connecting}</Says>;
  const age = now - live.newsAt;
  if (age > BROKEN_AFTER_MS) return <Says isLive={false}>{words.live.broken(lengthOf(age))}</Says>;
  return <Says isLive>{words.live.live}</Says>;
}

function Says({ isLive, children }: { isLive: boolean; children: React.ReactNode }) {
  return (
    <span className={isLive ? 'live' : 'live broken'} role="status">
      <i aria-hidden="true" />
      <span>{children}</span>
    </span>
  );
}
