import { hasKind } from '../../../../platform/notices/patterns.ts';

/** The topics by which a message comes: somebody who has left all of them does not get it. Pure. */

export interface TopicEvents {
  id: string;
  events: readonly string[];
}

/** Those that list a kind. A thread that stands for others (a site, a storm) has no kind of its own: it comes by all topics of its group. */
export function topicsFor(topics: readonly TopicEvents[], kind: string): string[] {
  const isFact = kind.includes('.');
  return topics.filter(({ events }) => !isFact || hasKind(events, kind)).map(({ id }) => id);
}
