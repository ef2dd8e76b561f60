import type { JobDetail, JobTimelineItem } from '../../../../../client/browser.ts';
import { wordOf } from '../../../parts/state-words.ts';
import { isRefusedByCheck, reasonWords } from '../words.ts';

/** How a line of the timeline is drawn. `moment`: it has no length. `unknown`: nobody knew what happened meanwhile. */
export type Drawn = 'moment' | 'wait' | 'run' | 'guard' | 'unknown';

/** One line of the timeline; times are milliseconds since 1970. */
export interface Line {
  key: string;
  at: number;
  until: number;
  drawn: Drawn;
  isGoingOn: boolean;
  says: string;
  why: string;
  by: string;
}

type Kind = JobTimelineItem['kind'];

/** What ends a stretch that a line draws. */
const ENDS: Partial<Record<Kind, readonly Kind[]>> = {
  accepted: ['began', 'ended', 'refused', 'canceled', 'expired', 'gave_up'],
  began: ['ended', 'gave_up', 'rolled_back'],
  guard_armed: ['guard_disarmed', 'rolled_back', 'gave_up', 'ended'],
};

const DRAWN: Partial<Record<Kind, Drawn>> = { waiting: 'wait', accepted: 'wait', began: 'run', guard_armed: 'guard' };

const SAYS: Record<Kind, string> = {
  created: 'made',
  waiting: 'waited',
  accepted: 'taken by its agent',
  began: 'the script ran',
  ended: 'ended',
  refused: 'refused by its agent',
  cancel_requested: 'asked to cancel',
  canceled: 'canceled, it never ran',
  expired: 'expired, it never ran',
  gave_up: 'no result came',
  deleted: 'marked as deleted',
  guard_armed: 'undo guard armed',
  guard_disarmed: 'undo guard taken away',
  rolled_back: 'undone by the router itself',
};

/** What goes on. */
const SAYS_NOW: Partial<Record<Kind, string>> = { waiting: 'waits', began: 'the script runs' };

const WAITS_FOR = {
  agent: ' for its agent',
  router: ' for its router',
  turn: ' for its turn',
  unknown: ', nobody knows for what',
} as const;

function saysOf({ kind, waits_for: what }: JobTimelineItem, drawn: Drawn, isGoingOn: boolean): string {
  if (drawn === 'unknown') return 'the script may have run';
  const says = (isGoingOn ? SAYS_NOW[kind] : undefined) ?? SAYS[kind];
  return what === null ? says : `${says}${WAITS_FOR[what]}`;
}

/** What a job asks for before its script. */
export type Prepared = Pick<JobDetail, 'make_backup' | 'undo_unless_reachable_seconds'>;

/** What the agent does between taking a job and its script, one after the other, unless the router is still busy with another job. */
export function preparationsOf({ make_backup: backup, undo_unless_reachable_seconds: guard }: Prepared): string {
  const steps = ['checks the script', ...(backup ? ['takes the backup'] : []), ...(guard === null ? [] : ['arms the undo guard'])];
  return LIST.format(steps);
}

/** British English, because it puts no comma before `and`. */
const LIST = new Intl.ListFormat('en-GB');

function preparedBy({ kind }: JobTimelineItem, job: Prepared | undefined): string {
  if (kind !== 'accepted' || job === undefined) return '';
  return `which ${preparationsOf(job)}`;
}

/** The lines of a job's timeline in the order in which things happened. What goes on ends at `now`. */
export function linesOf(items: readonly JobTimelineItem[], now: number, job?: Prepared | JobDetail): Line[] {
  const isRefused = job !== undefined && 'status' in job && isRefusedByCheck(job);
  const isOver = items.some(({ phase }) => phase === 'done' || phase === 'expired' || phase === 'canceled' || phase === 'unknown');
  return items.map((item, index) => {
    const at = Date.parse(item.at);
    const ending = endingOf(items, index);
    const drawn = item.kind === 'began' && ending?.phase === 'unknown' ? 'unknown' : (DRAWN[item.kind] ?? 'moment');
    const end = item.until ?? ending?.at;
    const isGoingOn = drawn !== 'moment' && end === undefined && !isOver;
    return {
      key: `${item.kind} ${index}`,
      at,
      until: Math.max(at, end === undefined || end === null ? (isGoingOn ? now : at) : Date.parse(end)),
      drawn,
      isGoingOn,
      says: saysOf(item, drawn, isGoingOn),
      why: isRefused && item.kind === 'ended' ? REFUSED : whyOf(item, job),
      by: byWords(item),
    };
  });
}

const REFUSED = "refused by the router's check of the script, nothing ran";

function whyOf(item: JobTimelineItem, job: Prepared | undefined): string {
  if (item.kind === 'waiting') return item.reason === null ? '' : wordOf(item.reason);
  return reasonWords(item.reason) || preparedBy(item, job);
}

function endingOf(items: readonly JobTimelineItem[], index: number): JobTimelineItem | undefined {
  const ends = ENDS[items[index]!.kind];
  return ends === undefined ? undefined : items.slice(index + 1).find(({ kind }) => ends.includes(kind));
}

function byWords({ by }: JobTimelineItem): string {
  if (by === null) return '';
  if (by.type === 'control_plane') return 'control plane';
  if (by.type === 'agent') return by.name === null ? 'agent' : `agent ${by.name}`;
  if (by.type === 'campaign') return 'campaign';
  return by.name ?? '';
}

/** A long wait between two moments, drawn short. */
export interface Fold {
  /** Percent of the axis. */
  left: number;
  width: number;
  ms: number;
}

export interface Axis {
  /** Percent of the width for a moment. */
  place: (at: number) => number;
  folds: readonly Fold[];
  /** Moments to write above the lines. */
  ticks: readonly number[];
}

/** A stretch without a run is folded when it is this many times as long as everything else. */
const FOLD_AT = 4;
/** Shorter ones are left as they are: beside them a run of milliseconds is short, and may look it. */
const FOLD_LEAST_MS = 30_000;
/** Part of the axis that a fold takes, percent. */
const FOLD_WIDTH = 12;
/** Ticks nearer to each other than this would touch, percent. */
const TICK_GAP = 18;

/**
 * The axis of the lines. A wait of hours beside a run of seconds would leave nothing to see of the run: such a stretch is drawn short and
 * says its length.
 */
export function axisOf(lines: readonly Line[]): Axis {
  const moments = [...new Set(lines.flatMap(({ at, until }) => [at, until]))].sort((one, other) => one - other);
  const pieces = moments.slice(1).map((to, index) => ({ from: moments[index]!, to, ms: to - moments[index]!, isFolded: false }));
  // The longest first; each is compared with what is not folded.
  for (const piece of pieces.toSorted((one, other) => other.ms - one.ms)) {
    const rest = pieces.reduce((sum, one) => (one === piece || one.isFolded ? sum : sum + one.ms), 0);
    const isIdle = lines.every(({ drawn, at, until }) => drawn === 'moment' || drawn === 'wait' || until <= piece.from || at >= piece.to);
    if (!isIdle || rest === 0 || piece.ms < Math.max(FOLD_LEAST_MS, FOLD_AT * rest)) break;
    piece.isFolded = true;
  }
  const drawn = pieces.reduce((sum, { ms, isFolded }) => (isFolded ? sum : sum + ms), 0);
  const room = 100 - FOLD_WIDTH * pieces.filter(({ isFolded }) => isFolded).length;
  const scale = drawn === 0 ? 0 : room / drawn;
  let left = 0;
  const placed = pieces.map((piece) => {
    const width = piece.isFolded ? FOLD_WIDTH : piece.ms * scale;
    const found = { ...piece, left, width };
    left += width;
    return found;
  });
  const place = (at: number): number => {
    const piece = placed.find(({ to }) => at <= to);
    if (!piece) return placed.length === 0 ? 0 : 100;
    return piece.left + (piece.ms === 0 ? 0 : (Math.max(0, at - piece.from) / piece.ms) * piece.width);
  };
  return { place, folds: placed.filter(({ isFolded }) => isFolded), ticks: apart(moments, place) };
}

function apart(moments: readonly number[], place: (at: number) => number): number[] {
  const kept: number[] = [];
  for (const moment of moments) {
    const last = kept.at(-1);
    // Within one second they would read the same.
    const isSame = last !== undefined && Math.floor(moment / 1000) === Math.floor(last / 1000);
    if (last === undefined || (!isSame && place(moment) - place(last) >= TICK_GAP)) kept.push(moment);
  }
  return kept;
}
