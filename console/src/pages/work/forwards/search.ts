/** What the address of the list holds. */
export interface ForwardsSearch {
  /** Words of the filter: `status:closed core-1`. */
  q?: string;
  /** One router, by id or name. */
  router?: string;
}

export function readForwardsSearch({ q, router }: Record<string, unknown>): ForwardsSearch {
  return { ...(typeof q === 'string' && q !== '' ? { q } : {}), ...(typeof router === 'string' && router !== '' ? { router } : {}) };
}

export interface NewForwardSearch {
  router?: string;
  /** `ADDRESS:PORT` to begin with. */
  to?: string;
}

export function readNewForwardSearch({ router, to }: Record<string, unknown>): NewForwardSearch {
  return { ...(typeof router === 'string' && router !== '' ? { router } : {}), ...(typeof to === 'string' && to !== '' ? { to } : {}) };
}
