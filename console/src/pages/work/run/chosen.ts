import { useLocation } from '@tanstack/react-router';

declare module '@tanstack/history' {
  interface HistoryState {
    /** Ids of the routers that were selected in a list: too many for an address. */
    chosen?: readonly string[];
  }
}

/** More routers than this are not named in an address, which would be too long for some proxies. */
const MOST_NAMED = 100;

/** Where a selection is taken: an address, and what the browser keeps beside it. */
export interface Handed {
  search: string;
  state: { chosen?: readonly string[] };
}

/**
 * A selection on its way to a page that runs something. It names its routers one by one, so that none is added that the filter finds later: in
 * the address, or, where they are many, beside it. The address then has the filter and their number for whoever gets it without the list.
 */
export function handed(ids: readonly string[], q: string): Handed {
  if (ids.length <= MOST_NAMED) return { search: `routers=${ids.join()}`, state: {} };
  return { search: `q=${encodeURIComponent(q)}&chosen=${ids.length}`, state: { chosen: ids } };
}

/** The routers that a list handed over with this address; undefined when it did not. */
export function useChosen(): readonly string[] | undefined {
  return useLocation({ select: ({ state }) => state.chosen });
}
