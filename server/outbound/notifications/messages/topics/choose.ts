import { hasKind } from '../../../../platform/notices/patterns.ts';

/** The topics by which a message comes: somebody who has left all of them does not get it. Pure. */

export interface TopicEvents {
  id: string;
  events: readonly string[];
}

/** Those that list any of these kinds. What tells no fact, as a test, comes by all topics of its group. */
export function topicsFor(topics: readonly TopicEvents[], kinds: readonly string[]): string[] {
  return topics.filter(({ events }) => kinds.length === 0 || kinds.some((kind) => hasKind(events, kind))).map(({ id }) => id);
}
