import { Link } from '@tanstack/react-router';
import type { Router } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { Front } from './front.tsx';
import { words } from './words.ts';

/** What is known of a router: what it says itself, what the catalogue of products says of its model, and where it is. */
export function Facts({ router }: { router: Router }) {
  const path = { router_id: router.id };
  const { data: oem } = useRecord('router', 'getRouterOem', { path });
  const { data: place } = useRecord('router', 'getRouterMetadata', { path });
  const { data: availability } = useRecord('availability', 'getRouterAvailability', { path, query: { bucket: 'hour' } });
  // Only the agent's own list has the name that its administrator gave, and the address.
  const { data: configured } = useRecord('agents', 'listAgentRouters', { path: { agent_id: router.agent_id } });
  const entry = configured?.routers.find(({ router_id: id }) => id === router.id);
  const model = router.model ?? router.board_name;
  const facts: readonly [string, React.ReactNode][] = [
    [words.facts.model, model],
    [words.facts.product, oem?.name !== null && oem?.name !== model ? oem?.name : null],
    [words.facts.hardware, [oem?.architecture, oem?.ram, oem?.storage_size].filter((fact) => fact).join(', ')],
    [words.facts.version, router.software_version],
    [words.facts.serial, router.serial_number],
    [
      words.facts.agent,
      <AppLink key="agent" href={`/agents/${router.agent_id}`} className="hand">
        {router.agent_name ?? router.agent_id}
      </AppLink>,
    ],
    [words.facts.configured, entry?.name],
    [words.facts.dialled, entry?.host],
    [words.facts.seenFrom, router.last_seen_from],
    [words.facts.site, router.site_id === null ? null : <SiteLink id={router.site_id} />],
    [words.facts.zone, place?.timezone],
    [words.facts.position, positionOf(place)],
    [words.facts.up, router.state === 'answering' || !router.uptime ? router.uptime : words.facts.upThen(router.uptime)],
    [words.facts.day, shareOf(availability?.total)],
    [words.facts.known, <Moment key="since" at={router.created_at} />],
  ];
  return (
    <Section title={words.facts.title}>
      <Picture router={router} image={oem?.thumbnail ?? oem?.banner ?? null} />
      <dl className="facts">
        {facts.map(([name, value]) =>
          value === null || value === undefined || value === '' ? null : (
            <div className="line fact" key={name}>
              <dt className="faint">{name}</dt>
              <dd className="id">{value}</dd>
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
  const position = `${place.lat.toFixed(3)}, ${place.lng.toFixed(3)}`;
  return place.location_origin === null ? position : words.facts.positionBy(position, place.location_origin);
}

/** How much of the last 24 hours it answered, and how much of them nobody knows. */
function shareOf(total: { percent_of_known: number | null; unknown: number } | undefined): string {
  if (!total) return '';
  if (total.percent_of_known === null) return words.facts.nobodyKnew;
  const share = `${total.percent_of_known.toLocaleString(undefined, { maximumFractionDigits: 2 })} %`;
  return total.unknown < 1 ? share : words.facts.leftOut(share, lengthOf(total.unknown * 1000));
}

/** The list, with the filter from which the router was opened. */
export function RoutersCrumb({ q, children }: { q: string | undefined; children: React.ReactNode }) {
  return (
    <>
      <Link to="/routers" search={{}} className="hand">
        {words.routers}
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
