import './map.css';
import { useRef } from 'react';
import { AppLink } from '../../../parts/app-link.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { numberWords } from '../../../parts/sizes.ts';
import { useWidth } from '../../../rails/use-width.ts';
import { Share } from '../sites/share.tsx';
import { useSites } from '../sites/use-sites.ts';
import type { SiteNow } from '../sites/use-sites.ts';
import { drawn } from './projection.ts';

const HEIGHT = 560;

/** Where the sites are, and which share of their routers answers. The list says the same without the map. */
export function MapPage() {
  const { sites, isFirst, error } = useSites();
  const placed = sites.filter(({ site }) => site.latitude !== null && site.longitude !== null);
  return (
    <>
      <PageHead title="Map" crumb={<AppLink href="/sites">Sites</AppLink>} />
      {isFirst ? (
        <Reading />
      ) : error && sites.length === 0 ? (
        <ReadingFailed error={error} what="The sites" />
      ) : placed.length === 0 ? (
        <p className="empty">Sites with a position would be here. Give a site its latitude and longitude on its page.</p>
      ) : (
        <div className="cols map-cols">
          <Section title="Sites" small={`${placed.length} of ${sites.length} have a position`}>
            {placed.map((site) => (
              <div className="line map-line" key={site.site.id}>
                <AppLink href={`/sites/${site.site.id}`} className="b el">
                  {site.site.name}
                </AppLink>
                <Share {...site} />
              </div>
            ))}
          </Section>
          <World sites={placed} />
        </div>
      )}
    </>
  );
}

function World({ sites }: { sites: readonly SiteNow[] }) {
  const figure = useRef<HTMLElement>(null);
  const width = useWidth(figure);
  const map = width === 0 ? undefined : drawn(sites, { width, height: HEIGHT });
  return (
    <figure className="world" ref={figure} style={{ height: HEIGHT }}>
      {map ? (
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={`A map with ${numberWords(sites.length)} ${sites.length === 1 ? 'site' : 'sites'}; the list says the same in words`}
        >
          <path className="land" d={map.land} />
          {map.marks.map(({ site: { site, routers, answering }, x, y }) => (
            <g key={site.id} transform={`translate(${x} ${y})`} className={answering === routers ? 'mark-sound' : 'mark-bad'}>
              <title>
                {site.name}: {answering} of {routers} answer
              </title>
              {answering === routers ? <circle r="5.5" /> : <rect x="-5.5" y="-5.5" width="11" height="11" />}
            </g>
          ))}
        </svg>
      ) : null}
    </figure>
  );
}
