import { wordOf } from '../parts/state-words.ts';
import { clockTime, lengthOf } from '../parts/times.ts';
import { isBreak } from './pieces.ts';
import type { Kind, Piece, Rails } from './pieces.ts';

/** What is written at a break: what happened, and what else is known. */
export interface Reason {
  kind: Kind;
  /** When the break began and ended, milliseconds. */
  from: number;
  to: number;
  isOpen: boolean;
  strong: string;
  weak: string;
}

/** A job that was made or ended so shortly before a break may be its cause, milliseconds. */
const AFTERMATH_MS = 10 * 60_000;

/** A restart or an update of the control plane takes no longer, milliseconds. */
const BRIDGED_MS = 10 * 60_000;

/** A job. */
export interface Deed {
  title: string;
  /** Milliseconds. */
  made: number;
  /** When it ended, milliseconds; null: not yet. */
  ended: number | null;
}

/** Why the agent was away, in the order of time. */
export function agentReasons({ agent: pieces, to: now }: Rails): Reason[] {
  const agent = bridged(pieces);
  return agent.flatMap((piece, index) => {
    if (piece.kind !== 'away' && piece.kind !== 'unknown') return [];
    const isOpen = piece.to >= now;
    const strong =
      piece.kind === 'unknown' ? `${clockTime(piece.from)} nobody knew` : `${clockTime(piece.from)} ${wordOf(piece.reason ?? 'away')}`;
    const weak = isOpen ? `still, ${lengthOf(piece.to - piece.from)}` : `${lengthOf(piece.to - piece.from)}${returned(agent, index)}`;
    return [{ kind: piece.kind, from: piece.from, to: piece.to, isOpen, strong, weak: ours(piece) + weak }];
  });
}

/** A control plane that was updated in the middle of an outage makes no second one of it. */
function bridged(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const [before, gap] = all.slice(-2);
    const isSame = before !== undefined && before.kind === piece.kind && before.reason === piece.reason && isBreak(piece);
    if (isSame && gap!.kind === 'unknown' && gap!.to - gap!.from <= BRIDGED_MS) all.splice(-2, 2, { ...before, to: piece.to });
    else all.push(piece);
  }
  return all;
}

function ours({ kind }: Piece): string {
  return kind === 'unknown' ? 'no control plane, ' : '';
}

/** A new address is worth knowing. */
function returned(agent: readonly Piece[], index: number): string {
  const before = agent[index - 1]?.fact;
  const after = agent[index + 1]?.fact;
  return after !== undefined && before !== undefined && before !== after ? `, back from ${after}` : '';
}

/** Why the router did not answer; of the times in which nobody could ask, only the longest is told. */
export function routerReasons({ router: pieces, to: now }: Rails, deeds: readonly Deed[]): Reason[] {
  const router = bridged(pieces);
  const silent = router
    .filter(({ kind }) => kind === 'not')
    .map((piece): Reason => {
      const isOpen = piece.to >= now;
      const length = lengthOf(piece.to - piece.from);
      return {
        ...piece,
        isOpen,
        strong: `${clockTime(piece.from)} ${wordOf(piece.reason ?? 'not_answering')}`,
        weak: `${isOpen ? `still, ${length}` : length}${suspectOf(piece.from, deeds)}`,
      };
    });
  const unasked = router.filter(({ kind }) => kind === 'unasked').sort((one, other) => other.to - other.from - (one.to - one.from))[0];
  if (!unasked) return silent;
  const until = unasked.to >= now ? 'now' : clockTime(unasked.to);
  return [
    ...silent,
    { ...unasked, isOpen: unasked.to >= now, strong: 'not asked', weak: `agent away, ${clockTime(unasked.from)} to ${until}` },
  ];
}

/** A job that was under way is suspected before one that had ended: an undo guard breaks the line while its job waits for it. */
function suspectOf(moment: number, deeds: readonly Deed[]): string {
  const isRecent = (at: number): boolean => at <= moment && at > moment - AFTERMATH_MS;
  const during = deeds.find(({ made, ended }) => isRecent(made) && (ended === null || ended > moment));
  if (during) return `, while ${during.title} was under way`;
  const after = deeds.find(({ ended }) => ended !== null && isRecent(ended));
  return after ? `, after ${after.title}` : '';
}

/** The part of the known time in which it was heard, percent; null when nothing is known. Rounded down: 100 means that nothing was missing. */
export function shareHeard(pieces: readonly Piece[]): number | null {
  let heard = 0;
  let known = 0;
  for (const { kind, from, to } of pieces) {
    if (kind === 'heard') heard += to - from;
    if (kind === 'heard' || kind === 'away' || kind === 'not') known += to - from;
  }
  return known === 0 ? null : Math.floor((heard / known) * 1000) / 10;
}
