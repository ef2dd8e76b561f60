/** What the address of the list holds. */
export interface TerminalsSearch {
  /** Words of the filter: `status:open core-1`. */
  q?: string;
}

export function readTerminalsSearch({ q }: Record<string, unknown>): TerminalsSearch {
  return typeof q === 'string' && q !== '' ? { q } : {};
}
