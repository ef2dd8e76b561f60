import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';
import type { Campaign, StreamEvent, TransientForward } from '../../../client/browser.ts';

/** What an event tells of a record that a page may have read. */
type Figures = Record<string, unknown>;
type Patched = Pick<Campaign, 'id'> | Pick<TransientForward, 'id'>;

/**
 * Writes the figures of an event into what was read already, so that nothing has to be read again for them.
 * @returns false when the event has none
 */
export function takeFigures(queries: QueryClient, { type, data }: StreamEvent): boolean {
  const { at: _at, campaign_id: campaignId, forward_id: forwardId, ...figures } = data;
  if (type === 'campaign.progress') patch(queries, 'campaigns', String(campaignId), figures);
  else if (type === 'forward.traffic') patch(queries, 'forwards', String(forwardId), figures);
  else return false;
  return true;
}

/** In a record that was read alone, and in every list that has it. */
function patch(queries: QueryClient, key: string, id: string, figures: Figures): void {
  queries.setQueriesData<unknown>({ queryKey: [key] satisfies QueryKey }, (read: unknown) => patched(read, id, figures));
}

function patched(read: unknown, id: string, figures: Figures): unknown {
  if (isRecord(read)) return read.id === id ? { ...read, ...figures } : read;
  if (!isPages(read) || !read.pages.some(({ data }) => data.some((record) => record.id === id))) return read;
  const pages = read.pages.map((page) => ({
    ...page,
    data: page.data.map((record) => (record.id === id ? { ...record, ...figures } : record)),
  }));
  return { ...read, pages };
}

function isRecord(read: unknown): read is Patched {
  return typeof read === 'object' && read !== null && 'id' in read;
}

function isPages(read: unknown): read is InfiniteData<{ data: Patched[] }> {
  return typeof read === 'object' && read !== null && 'pages' in read;
}
