import type { Match, View } from '../../../../client/browser.ts';

/** Where the application shows what a search has found. */
export function hrefOfMatch({ kind, id, router_id: routerId }: Pick<Match, 'kind' | 'id' | 'router_id'>): string {
  switch (kind) {
    case 'router':
      return `/routers/${id}`;
    case 'agent':
      return `/agents/${id}`;
    case 'site':
      return `/sites/${id}`;
    case 'device':
      return `/devices?q=${encodeURIComponent(id)}`;
    case 'campaign':
      return `/campaigns/${id}`;
    case 'job':
      return `/jobs/${routerId ?? ''}/${id}`;
  }
}

/** The list of routers as the view has saved it. */
export function hrefOfView({ query }: Pick<View, 'query'>): string {
  const pairs = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return ['/routers', ...(pairs.length === 0 ? [] : [pairs.join('&')])].join('?');
}
