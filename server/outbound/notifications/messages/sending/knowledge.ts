import type { MessageKind } from '../../texts/types.ts';
import type { MessageRow } from '../types.ts';

/** What a person knows of a thread decides what its next message says. Pure. */

const OPENINGS = new Set(['open', 'still_open', 'escalation']);

/**
 * The kind of message for somebody who got these earlier messages: an end without an opening that arrived is `was_away`, and a change of what
 * they never heard of is its opening.
 * @param earlier of the same thread, person and channel, oldest first
 */
export function kindFor(message: Pick<MessageRow, 'kind'>, earlier: readonly Pick<MessageRow, 'kind' | 'state'>[]): MessageKind {
  const lastOpening = earlier.findLastIndex(({ kind }) => OPENINGS.has(kind));
  const knows = lastOpening >= 0 && earlier.slice(lastOpening).some(({ state }) => state === 'sent');
  if (knows || OPENINGS.has(message.kind)) return message.kind as MessageKind;
  // A rest of a storm ends without an opening of its own.
  if (lastOpening < 0) return message.kind as MessageKind;
  return message.kind === 'resolve' ? 'was_away' : 'open';
}
