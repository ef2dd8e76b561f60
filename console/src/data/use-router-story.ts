import { useQuery } from '@tanstack/react-query';
import type { ApiClient, HistoryItem } from '../../../client/browser.ts';
import { keepPrevious, secondPart } from './keep-previous.ts';
import { useFleet } from './use-fleet.ts';
import { serverNow } from './server-clock.ts';

/** Times that a router's page can show. */
export const SPANS = { '6h': 6, '24h': 24, '7d': 24 * 7, '30d': 24 * 30 } as const;
export type SpanName = keyof typeof SPANS;

const HOUR_MS = 3_600_000;
/** Items of one request; with more breaks than this in the time, the oldest ones are left out. */
const MOST = 1000;

export interface RouterStory {
  /** States, sessions and times that nobody knew of, and of each the one that went on when the time began. */
  states: HistoryItem[];
  /** Everything else that began in the time, newest first. */
  deeds: HistoryItem[];
}

/** What happened to a router in the last hours or days. */
export function useRouterStory(routerId: string, span: SpanName) {
  const { api } = useFleet();
  const queryKey = ['history', routerId, span];
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => readStory(api, routerId, serverNow() - SPANS[span] * HOUR_MS, signal),
    placeholderData: keepPrevious(queryKey, secondPart),
  });
}

async function readStory(api: ApiClient, routerId: string, start: number, signal: AbortSignal): Promise<RouterStory> {
  const path = { router_id: routerId };
  const from = new Date(start).toISOString();
  const read = async (query: { kind: HistoryItem['kind'][]; from?: string; to?: string; limit: number }) =>
    (await api.call('listRouterHistory', { path, query }, { signal })).data;
  const [states, deeds, ...before] = await Promise.all([
    read({ kind: ['state', 'session', 'unknown'], from, limit: MOST }),
    read({ kind: ['fault', 'job', 'forward', 'terminal', 'backup'], from, limit: MOST }),
    read({ kind: ['state'], to: from, limit: 1 }),
    read({ kind: ['session'], to: from, limit: 1 }),
    read({ kind: ['unknown'], to: from, limit: 1 }),
  ]);
  return { states: [...states, ...before.flat()], deeds };
}
