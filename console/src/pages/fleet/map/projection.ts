import { geoCentroid, geoMercator, geoPath } from 'd3-geo';
import type { GeoProjection } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Topology } from 'topojson-specification';
import land from 'world-atlas/land-110m.json';
import type { SiteNow } from '../sites/use-sites.ts';

interface Size {
  width: number;
  height: number;
}

export interface Drawn {
  /** SVG path of the coasts. */
  land: string;
  marks: { site: SiteNow; x: number; y: number }[];
}

/** Air around the outermost sites, pixels. */
const EDGE = 48;
/** A single site is shown with its country around it, and not at the scale of streets: there are no streets on this map. */
const GREATEST_SCALE = 4000;

const topology = land as unknown as Topology;
const coasts = feature(topology, topology.objects['land']!);

/** The part of the world in which the sites are. No map server is asked: coasts come with the page. */
export function drawn(sites: readonly SiteNow[], { width, height }: Size): Drawn {
  const coordinates = sites.map(({ site }): [number, number] => [site.longitude!, site.latitude!]);
  const projection = projectionFor(coordinates, { width, height });
  const marks = sites.flatMap((site, index) => {
    const [x, y] = projection(coordinates[index]!) ?? [];
    return x === undefined || y === undefined ? [] : [{ site, x, y }];
  });
  return { land: geoPath(projection)(coasts) ?? '', marks };
}

function projectionFor(coordinates: [number, number][], { width, height }: Size): GeoProjection {
  const all = { type: 'MultiPoint' as const, coordinates };
  const projection = geoMercator();
  // Sites at one place have no extent that could be fitted.
  const isOnePlace = coordinates.every(([x, y]) => x === coordinates[0]![0] && y === coordinates[0]![1]);
  const corner: [number, number] = [width - EDGE, height - EDGE];
  if (!isOnePlace) projection.fitExtent([[EDGE, EDGE], corner], all);
  if (isOnePlace || projection.scale() > GREATEST_SCALE) {
    projection
      .scale(GREATEST_SCALE)
      .center(geoCentroid(all))
      .translate([width / 2, height / 2]);
  }
  const whole: [number, number] = [width, height];
  return projection.clipExtent([[0, 0], whole]);
}
