/** What the address of the list holds. */
export interface JobsSearch {
  /** Words of the filter: `status:failed router:core-1`. */
  q?: string;
}

export function readJobsSearch({ q }: Record<string, unknown>): JobsSearch {
  return typeof q === 'string' && q !== '' ? { q } : {};
}
