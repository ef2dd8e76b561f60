import { ReadingFailed } from '../../../parts/reading.tsx';
import { useReadSiteNames } from './use-filtered.ts';
import { words } from './words.ts';

/** Said below a filter that knows `site:`, which finds nothing while the names of sites cannot be read. */
export function SiteNamesFailed() {
  const { data, error } = useReadSiteNames();
  return data === undefined && error ? <ReadingFailed error={error} what={words.siteNames} /> : null;
}
