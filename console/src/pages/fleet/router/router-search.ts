import { SPANS } from '../../../data/use-router-story.ts';
import type { SpanName } from '../../../data/use-router-story.ts';
import { readSearch } from '../routers/search.ts';
import type { RoutersSearch } from '../routers/search.ts';

/** The address of a router's page: the list from which it was opened, so that the next one is the next of that list, and the time shown. */
export interface RouterSearch extends RoutersSearch {
  span?: SpanName;
}

export function readRouterSearch(search: Record<string, unknown>): RouterSearch {
  const { span } = search;
  return { ...readSearch(search), ...(typeof span === 'string' && Object.hasOwn(SPANS, span) ? { span: span as SpanName } : {}) };
}
