import type { SortKey } from './search.ts';

/** A column of the list. State and identity are always there. */
export interface ListColumn {
  key: SortKey | 'rails';
  title: string;
  /** A track of CSS grid. */
  width: string;
  isNumber?: boolean;
}

/** Width of the rails in a row, pixels. */
export const RAILS_PX = 196;

export const FIXED: readonly ListColumn[] = [
  { key: 'state', title: 'State, longest first', width: 'minmax(190px, 1.15fr)' },
  { key: 'identity', title: 'Identity', width: 'minmax(130px, 1.3fr)' },
];

export const OPTIONAL: readonly ListColumn[] = [
  { key: 'site', title: 'Site', width: 'minmax(70px, .8fr)' },
  { key: 'model', title: 'Model', width: 'minmax(90px, 1fr)' },
  { key: 'version', title: 'RouterOS', width: '72px' },
  { key: 'address', title: 'Seen from', width: '112px' },
  { key: 'agent', title: 'Agent', width: 'minmax(70px, .8fr)' },
  { key: 'since', title: 'Since', width: '74px', isNumber: true },
  { key: 'rails', title: 'Last 24 hours', width: `${RAILS_PX}px` },
];

/** Shown unless the address says others. */
const USUAL = ['site', 'model', 'version', 'address', 'since', 'rails'];

export function columnsOf(cols: string | undefined): readonly ListColumn[] {
  const wanted = cols === undefined ? USUAL : cols.split(',');
  return [...FIXED, ...OPTIONAL.filter(({ key }) => wanted.includes(key))];
}

/** For the address: undefined when they are the usual ones. */
export function colsOf(keys: readonly string[]): string | undefined {
  const named = OPTIONAL.filter(({ key }) => keys.includes(key)).map(({ key }) => key);
  return named.join() === USUAL.join() ? undefined : named.join();
}
