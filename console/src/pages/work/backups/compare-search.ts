export interface CompareSearch {
  view?: 'sides';
}

export function readCompareSearch({ view }: Record<string, unknown>): CompareSearch {
  return view === 'sides' ? { view } : {};
}
