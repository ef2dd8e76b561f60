import './map.css';
import { useRef } from 'react';
import { AppLink } from '../../../parts/app-link.tsx';
import { colourOf, shapeOf } from '../../../parts/lamp.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { useWidth } from '../../../rails/use-width.ts';
import { Share } from '../sites/share.tsx';
import { useSites } from '../sites/use-sites.ts';
import type { SiteNow } from '../sites/use-sites.ts';
import { namesBeside } from './names.ts';
import { drawn } from './projection.ts';
import type { Drawn } from './projection.ts';
import { words } from './words.ts';

const HEIGHT = 560;

/** Where the sites are, and which share of their routers answers. The list says the same without the map. */
export function MapPage() {
  const { sites, isFirst, error } = useSites();
  const placed = sites.filter(({ site }) => site.latitude !== null && site.longitude !== null);
  return (
    <>
      <PageHead title={words.title} crumb={<AppLink href="/sites">{words.sites}</AppLink>} />
      {isFirst ? (
        <Reading />
      ) : error && sites.length === 0 ? (
        <ReadingFailed error={error} what={words.what} />
      ) : placed.length === 0 ? (
        <p className="empty">{words.none}</p>
      ) : (
        <div className="cols map-cols">
          <Section title={words.sites} small={words.placed(placed.length, sites.length)}>
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

/** Sites of one town lie on top of each other: the last one drawn is the one that is seen. */
function troubleLast(marks: Drawn['marks']): Drawn['marks'] {
  const missing = ({ site: { answering, routers } }: Drawn['marks'][number]): number => routers - answering;
  return marks.toSorted((one, other) => missing(one) - missing(other));
}

function World({ sites }: { sites: readonly SiteNow[] }) {
  const figure = useRef<HTMLElement>(null);
  const width = useWidth(figure);
  const map = width === 0 ? undefined : drawn(sites, { width, height: HEIGHT });
  const marks = map ? troubleLast(map.marks) : [];
  const names = namesBeside(marks.toReversed(), { nameOf: ({ site: { site } }) => site.name, width });
  return (
    <figure className="world" ref={figure} style={{ height: HEIGHT }}>
      {map ? (
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words.world(sites.length)}>
          <path className="land" d={map.land} />
          {marks.map(({ site: { site, routers, answering, worst }, x, y }) => (
            <g key={site.id} transform={`translate(${x - 8} ${y - 8})`} className={`mark ${colourOf(worst)}`}>
              <title>{words.mark(site.name, answering, routers)}</title>
              {shapeOf(worst)}
            </g>
          ))}
          {names.map(({ mark: { site }, x, y, anchor }) => (
            <text key={site.site.id} x={x} y={y} textAnchor={anchor}>
              {site.site.name}
            </text>
          ))}
        </svg>
      ) : null}
    </figure>
  );
}
