import type { Router, RouterAvailability } from '../../../client/browser.ts';
import { covering } from './pieces.ts';
import type { Kind, Piece, Rails, Span } from './pieces.ts';

type Bucket = RouterAvailability['buckets'][number];
type BreakKind = 'unknown' | 'away' | 'not';
/** A break and its length inside one bucket, milliseconds. */
type Lengths = Record<BreakKind, number>;

const BREAKS: readonly BreakKind[] = ['unknown', 'away', 'not'];

/**
 * The rails of one router from seconds per hour. Buckets do not say when inside them something was: a break touches the neighbour that has
 * the same one, and stands in the middle otherwise, so it is right to an hour. What goes on now is exact: it began at `state_since`.
 */
export function railsOfBuckets(
  buckets: readonly Bucket[],
  router: Pick<Router, 'state' | 'state_since' | 'created_at'>,
  span: Span,
): Rails {
  const pieces = buckets.flatMap((bucket, index) => arranged(bucket, buckets[index - 1], buckets[index + 1]));
  const before: Piece = { from: span.from, to: Date.parse(router.created_at), kind: 'never' };
  const all = [...pieces, before, ...present(router, span.to)];
  return { ...span, agent: covering(span, all.map(forAgent), 'never'), router: covering(span, all.map(forRouter), 'never') };
}

/**
 * The rails of several routers as one: a break of any of them is a break of all, and nobody knew only where nobody knew of any.
 */
export function railsOfMany(many: readonly Rails[], span: Span): Rails {
  const sound: Piece = { ...span, kind: 'heard' };
  const worst = (side: 'agent' | 'router'): Piece[] => {
    const known = many.map((rails) => rails[side]);
    const blind = commonOf(known.map((pieces) => pieces.filter(({ kind }) => kind === 'unknown' || kind === 'never')));
    const breaks = known.flat().filter(({ kind }) => kind === 'unasked' || kind === 'away' || kind === 'not');
    return covering(span, [sound, ...blind, ...breaks.toSorted((one, other) => rank(one.kind) - rank(other.kind))], 'never');
  };
  return { ...span, agent: worst('agent'), router: worst('router') };
}

/** `not` is drawn over `unasked`: something that was heard beats something that nobody could ask. */
function rank(kind: Kind): number {
  return kind === 'not' ? 1 : 0;
}

/** Times that are in every list. */
function commonOf(lists: readonly (readonly Piece[])[]): Piece[] {
  const [first = [], ...rest] = lists;
  return rest.reduce<Piece[]>(
    (common, list) =>
      common.flatMap((piece) =>
        list.flatMap(({ from, to }) => {
          const both = { ...piece, from: Math.max(piece.from, from), to: Math.min(piece.to, to) };
          return both.from < both.to ? [both] : [];
        }),
      ),
    [...first],
  );
}

function forAgent(piece: Piece): Piece {
  return piece.kind === 'not' ? { ...piece, kind: 'heard' } : piece;
}

function forRouter(piece: Piece): Piece {
  return piece.kind === 'away' ? { ...piece, kind: 'unasked' } : piece;
}

function present({ state, state_since: since }: Pick<Router, 'state' | 'state_since'>, now: number): Piece[] {
  if (since === null || (state !== 'agent_away' && state !== 'not_answering')) return [];
  return [{ from: Date.parse(since), to: now, kind: state === 'agent_away' ? 'away' : 'not' }];
}

function arranged(bucket: Bucket, before: Bucket | undefined, after: Bucket | undefined): Piece[] {
  const from = Date.parse(bucket.from);
  const to = Date.parse(bucket.to);
  const lengths = lengthsOf(bucket);
  const early: BreakKind[] = [];
  const middle: BreakKind[] = [];
  const late: BreakKind[] = [];
  for (const kind of BREAKS.filter((kind) => lengths[kind] > 0)) {
    if (before && lengthsOf(before)[kind] > 0) early.push(kind);
    else if (after && lengthsOf(after)[kind] > 0) late.push(kind);
    else middle.push(kind);
  }
  const pieces: Piece[] = [{ from, to, kind: 'heard' }];
  const lay = (kinds: readonly BreakKind[], start: number): void => {
    let at = start;
    for (const kind of kinds) pieces.push({ from: at, to: (at += lengths[kind]), kind });
  };
  const sum = (kinds: readonly BreakKind[]): number => kinds.reduce((total, kind) => total + lengths[kind], 0);
  lay(early, from);
  lay(late, to - sum(late));
  const free = to - from - sum(early) - sum(late);
  lay(middle, from + sum(early) + (free - sum(middle)) / 2);
  return pieces;
}

function lengthsOf({ unknown, agent_away: away, not_answering: not }: Bucket): Lengths {
  return { unknown: unknown * 1000, away: away * 1000, not: not * 1000 };
}
