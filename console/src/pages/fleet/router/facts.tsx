import { Link } from '@tanstack/react-router';
import type { Router } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { Front } from './front.tsx';

/** What is known of a router: what it says itself, what the catalogue of products says of its model, and where it is. */
export function Facts({ router }: { router: Router }) {
  const path = { router_id: router.id };
  const { data: oem } = useRecord('router', 'getRouterOem', { path });
  const { data: place } = useRecord('router', 'getRouterMetadata', { path });
  const { data: availability } = useRecord('availability', 'getRouterAvailability', { path, query: { bucket: 'hour' } });
  const model = router.model ?? router.board_name;
  const facts: readonly [string, React.ReactNode][] = [
    ['Model', model],
    ['Product', oem?.name !== null && oem?.name !== model ? oem?.name : null],
    ['Hardware', [oem?.architecture, oem?.ram, oem?.storage_size].filter((fact) => fact).join(', ')],
    ['RouterOS', router.software_version],
    ['Serial', router.serial_number],
    ['Address', router.last_seen_from],
    [
      'Agent',
      <AppLink key="agent" href={`/agents/${router.agent_id}`} className="hand">
        {router.agent_name ?? router.agent_id}
      </AppLink>,
    ],
    ['Tunnel from', place?.tunnel_ip],
    ['Site', router.site_id === null ? null : <SiteLink id={router.site_id} />],
    ['Time zone', place?.timezone],
    ['Position', positionOf(place)],
    ['Up', router.uptime],
    ['24 hours', shareOf(availability?.total)],
    ['Known since', <Moment key="since" at={router.created_at} />],
  ];
  return (
    <Section title="Facts">
      <Picture router={router} image={oem?.thumbnail ?? oem?.banner ?? null} />
      <dl className="facts">
        {facts.map(([name, value]) =>
          value === null || value === undefined || value === '' ? null : (
            <div className="line fact" key={name}>
              <dt className="faint">{name}</dt>
              <dd className="id el" title={typeof value === 'string' ? value : undefined}>
                {value}
              </dd>
            </div>
          ),
        )}
      </dl>
    </Section>
  );
}

/** The product's picture where this control plane serves it (the page asks no other server for anything), else a drawing. */
function Picture({ router, image }: { router: Router; image: string | null }) {
  const isOurs = image !== null && new URL(image, location.origin).origin === location.origin;
  const model = router.model ?? router.board_name;
  if (isOurs) return <img className="front" src={image} alt={model} />;
  return <Front model={model} />;
}

function SiteLink({ id }: { id: string }) {
  const { data: site } = useRecord('sites', 'getSite', { path: { site_id: id } });
  return (
    <AppLink href={`/sites/${id}`} className="hand">
      {site?.name ?? id}
    </AppLink>
  );
}

function positionOf(place: { lat: number | null; lng: number | null; location_origin: string | null } | undefined): string | null {
  if (!place || place.lat === null || place.lng === null) return null;
  return `${place.lat.toFixed(3)}, ${place.lng.toFixed(3)}${place.location_origin === null ? '' : `, by ${place.location_origin}`}`;
}

/** How much of the last 24 hours it answered, and how much of them nobody knows. */
function shareOf(total: { percent_of_known: number | null; unknown: number } | undefined): string {
  if (!total) return '';
  if (total.percent_of_known === null) return 'nobody knew';
  const share = `${total.percent_of_known.toLocaleString(undefined, { maximumFractionDigits: 2 })} %`;
  return total.unknown < 1 ? share : `${share}, ${lengthOf(total.unknown * 1000)} left out`;
}

/** The list, with the filter from which the router was opened. */
export function RoutersCrumb({ q, children }: { q: string | undefined; children: React.ReactNode }) {
  return (
    <>
      <Link to="/routers" search={{}} className="hand">
        Routers
      </Link>
      {q === undefined ? null : (
        <>
          {' / '}
          <Link to="/routers" search={{ q }} className="hand">
            {q}
          </Link>
        </>
      )}
      {children}
    </>
  );
}
