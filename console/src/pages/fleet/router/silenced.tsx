import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { useSilencesOf } from '../../notifications/silences/use-silences.ts';
import { words } from './words.ts';

/** Said where somebody may wonder why nobody was told: a silence that holds here now. */
export function Silenced(place: { routerId?: string; siteId: string | null }) {
  const { silences, error } = useSilencesOf(place);
  if (silences === undefined) return error ? <ReadingFailed error={error} what={words.silenced.what} /> : null;
  return silences.map(({ id, until, reason, router_id: routerId, site_id: siteId }) => (
    <p className="silenced" key={id}>
      {fill(routerId === null ? (siteId === null ? words.silenced.withTeam : words.silenced.withSite) : words.silenced.here, {
        until: (
          <AppLink href="/notifications/silences" className="b under">
            {fill(words.silenced.until, { time: <Moment at={until} /> })}
          </AppLink>
        ),
        reason,
      })}
    </p>
  ));
}
