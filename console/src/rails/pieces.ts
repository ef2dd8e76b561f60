/**
 * What a piece of a rail says. `unasked` and `unknown` look the same (hatched), because nobody knew; they differ in the reason: the agent was
 * away, or no control plane was there.
 */
export type Kind = 'heard' | 'not' | 'away' | 'unasked' | 'unknown' | 'never';

/** A time and what it was. Moments are milliseconds since 1970. */
export interface Piece {
  from: number;
  to: number;
  kind: Kind;
  /** Of a break, the code of docs/states.md: `silence`, `timeout`. */
  reason?: string | undefined;
  /** What held all the time of a sound piece: an address, a version. */
  fact?: string | undefined;
}

/** The two facts about a router: its agent is there, and it answers. Each covers the time from `from` to `to` without gaps. */
export interface Rails {
  from: number;
  to: number;
  agent: readonly Piece[];
  router: readonly Piece[];
}

/** What was, when no control plane could see it. */
export interface Span {
  from: number;
  to: number;
}

/**
 * Lays pieces over a time without gaps: later ones over earlier ones, `rest` where there is none.
 * @returns pieces in their order, cut at both ends, neighbours of the same meaning joined
 */
export function covering(span: Span, pieces: readonly Piece[], rest: Kind): Piece[] {
  const laid: Piece[] = [{ ...span, kind: rest }];
  for (const piece of pieces) {
    const from = Math.max(piece.from, span.from);
    const to = Math.min(piece.to, span.to);
    if (from < to) lay(laid, { ...piece, from, to });
  }
  return joined(laid);
}

/** Puts a piece over those that it touches; what stands out of these at its ends stays. */
function lay(laid: Piece[], piece: Piece): void {
  const first = firstEndingAfter(laid, piece.from);
  let after = first;
  while (after < laid.length && laid[after]!.from < piece.to) after += 1;
  const [under, last] = [laid[first]!, laid[after - 1]!];
  laid.splice(
    first,
    after - first,
    ...(under.from < piece.from ? [{ ...under, to: piece.from }] : []),
    piece,
    ...(last.to > piece.to ? [{ ...last, from: piece.to }] : []),
  );
}

/** Pieces are in order: found by halves, so that a thousand breaks are laid at once. */
function firstEndingAfter(laid: readonly Piece[], moment: number): number {
  let [low, high] = [0, laid.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (laid[middle]!.to > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last && last.kind === piece.kind && last.reason === piece.reason && last.fact === piece.fact)
      all[all.length - 1] = { ...last, to: piece.to };
    else all.push(piece);
  }
  return all;
}

export function isBreak({ kind }: Piece): boolean {
  return kind !== 'heard' && kind !== 'never';
}
