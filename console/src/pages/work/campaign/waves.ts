import type { CampaignTarget } from '../../../../../client/browser.ts';
import { words } from './words.ts';

/** A stretch of the list of routers, in the order in which they get their jobs. */
export interface Wave {
  name: string;
  size: number;
  /** When its first job was made, milliseconds since 1970; null: none yet. */
  from: number | null;
  /** When its last result came; null while one is missing. */
  until: number | null;
  /** About when it will have begun and ended; null where nothing says so. */
  expected: { from: number; until: number } | null;
  /** `notRun`: they never will. */
  counts: Record<'done' | 'running' | 'bad' | 'waiting' | 'notRun', number>;
}

/** The rest of the list is shown in so many stretches. */
const STRETCHES = 5;
/** An estimate needs this many results. */
const LEAST_RESULTS = 3;

interface Pace {
  ratePerMinute: number | null;
  /** Whether the campaign goes on: otherwise nothing is expected any more. */
  isGoingOn: boolean;
  now: number;
}

/** The canaries and stretches of the others. @param targets by position */
export function wavesOf(targets: readonly CampaignTarget[], pace: Pace): Wave[] {
  const canaries = targets.filter(({ canary }) => canary);
  const others = targets.filter(({ canary }) => !canary);
  const size = Math.max(1, Math.ceil(others.length / STRETCHES));
  const perTarget = msPerTarget(others, pace);
  const waves: Wave[] = canaries.length === 0 ? [] : [waveOf(words.waves.canaries, canaries)];
  const firstWaiting = others.findIndex(({ started_at: at }) => at === null);
  for (let at = 0; at < others.length; at += size) {
    const stretch = others.slice(at, at + size);
    const first = canaries.length + at + 1;
    const wave = waveOf(words.waves.stretch(first, first + stretch.length - 1), stretch);
    if (pace.isGoingOn && perTarget !== undefined && wave.until === null) {
      const before = Math.max(0, at - Math.max(0, firstWaiting));
      const left = at + stretch.length - Math.max(at, firstWaiting === -1 ? at + stretch.length : firstWaiting);
      const from = wave.from ?? pace.now + before * perTarget;
      wave.expected = { from, until: Math.max(pace.now, from) + Math.max(0, left) * perTarget };
    }
    waves.push(wave);
  }
  return waves;
}

function waveOf(name: string, targets: readonly CampaignTarget[]): Wave {
  const moments = (read: (target: CampaignTarget) => string | null): number[] =>
    targets
      .map(read)
      .filter((at) => at !== null)
      .map((at) => Date.parse(at));
  const started = moments(({ started_at: at }) => at);
  const settled = moments(({ settled_at: at }) => at);
  const counts = { done: 0, running: 0, bad: 0, waiting: 0, notRun: 0 };
  for (const { status } of targets) {
    if (status === 'completed') counts.done += 1;
    else if (status === 'running' || status === 'pending') counts.running += 1;
    else if (status === 'waiting') counts.waiting += 1;
    else if (status === 'skipped' || status === 'deleted') counts.notRun += 1;
    else counts.bad += 1;
  }
  return {
    name,
    size: targets.length,
    from: started.length === 0 ? null : started.reduce((one, other) => Math.min(one, other)),
    until:
      settled.length === 0 || counts.running + counts.waiting + counts.notRun > 0
        ? null
        : settled.reduce((one, other) => Math.max(one, other)),
    expected: null,
    counts,
  };
}

/** From the pace so far, and never faster than the rate allows; undefined while nothing says so. */
function msPerTarget(others: readonly CampaignTarget[], { ratePerMinute, now }: Pace): number | undefined {
  const byRate = ratePerMinute === null ? 0 : 60_000 / ratePerMinute;
  const settled = others.filter(({ settled_at: at }) => at !== null);
  if (settled.length < LEAST_RESULTS) return byRate === 0 ? undefined : byRate;
  const began = others.reduce((least, { started_at: at }) => (at === null ? least : Math.min(least, Date.parse(at))), now);
  return Math.max(byRate, (now - began) / settled.length);
}
