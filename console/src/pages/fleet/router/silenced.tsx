import { AppLink } from '../../../parts/app-link.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { useSilencesOf } from '../../notifications/silences/use-silences.ts';

/** Said where somebody may wonder why nobody was told: a silence that holds here now. */
export function Silenced(place: { routerId?: string; siteId: string | null }) {
  const { silences, error } = useSilencesOf(place);
  if (silences === undefined) return error ? <ReadingFailed error={error} what="Whether it is silenced" /> : null;
  return silences.map(({ id, until, reason, router_id: routerId, site_id: siteId }) => (
    <p className="silenced" key={id}>
      <AppLink href="/notifications/silences" className="b under">
        Silenced until <Moment at={until} />
      </AppLink>
      {routerId === null ? (siteId === null ? ', with the whole team' : ', with its site') : ''}: {reason}
    </p>
  ));
}
