import type { MessageKind } from '../../texts/types.ts';
import type { MessageRow } from '../types.ts';

/** What a person knows of a thread decides what its next message says. Pure. */

const OPENINGS = new Set(['open', 'still_open', 'escalation']);

/** Ends as they are stored, and as they are told to those who were away. */
const ENDS = new Set(['resolve', 'was_away']);

/**
 * The kind of message for somebody who got these earlier messages: an end without an opening that arrived is `was_away`, and a change of what
 * they never heard of is its opening. An end that did not arrive ended nothing for them.
 * @param earlier of the same thread, person and channel, oldest first
 */
export function kindFor(message: Pick<MessageRow, 'kind'>, earlier: readonly Pick<MessageRow, 'kind' | 'state' | 'reason'>[]): MessageKind {
  const kind = message.kind as MessageKind;
  const lastEnd = earlier.findLastIndex(({ kind: told, state }) => ENDS.has(told) && state === 'sent');
  const since = earlier.slice(lastEnd + 1).filter((row) => !isForNobody(row));
  const knows = since.some(({ state }) => state === 'sent');
  // A rest of a storm ends without an opening of its own.
  if (knows || OPENINGS.has(kind) || !since.some(({ kind: told }) => OPENINGS.has(told))) return kind;
  return kind === 'resolve' ? 'was_away' : 'open';
}

/** The person got it by another line, or nobody was to get it: it says nothing about what the person knows. */
function isForNobody({ state, reason }: Pick<MessageRow, 'state' | 'reason'>): boolean {
  return state === 'withheld' && (reason === 'duplicate' || reason === 'muted');
}
