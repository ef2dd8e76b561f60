import type { SearchPlace } from '../../platform/storage/search.ts';
import type { SearchKind } from '../../platform/storage/search-text.ts';
import type { RouterState } from '../states/types.ts';

export type FoundKind = SearchKind | 'job';

/** In the order in which they are shown. */
export const FOUND_KINDS = ['router', 'agent', 'site', 'device', 'campaign', 'job'] as const satisfies readonly FoundKind[];

/** A record of the team that a text led to. */
export interface Found {
  kind: FoundKind;
  /** Its id; the MAC address of a device. */
  id: string;
  name: string;
  /** What tells it from others of the same name. */
  detail: string | null;
  siteId: string | null;
  /** The router of a job. */
  routerId: string | null;
}

/** How the text and the field fit together. */
export interface Match extends Found {
  place: SearchPlace;
  /** Of routers only. */
  state: RouterState | null;
}
