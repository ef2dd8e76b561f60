import { MODELS, VERSIONS } from './models.ts';
import type { FleetModel } from './models.ts';
import { PLACES } from './places.ts';
import type { Place } from './places.ts';
import { between, letters, seeded } from './random.ts';
import type { Random } from './random.ts';

export interface PlannedSite extends Omit<Place, 'code'> {
  name: string;
}

export interface PlannedRouter {
  /** Name in the agent's configuration. */
  name: string;
  identity: string;
  host: string;
  serial: string;
  softwareId: string;
  version: string;
  model: FleetModel;
  uptimeSeconds: number;
  /** Devices behind it. */
  devices: number;
}

export interface PlannedAgent {
  name: string;
  site: PlannedSite;
  routers: PlannedRouter[];
}

/** Kinds of sites that a place gets, one after the other. */
const KINDS = ['', 'North tower', 'Depot', 'Harbour', 'South tower', 'School', 'Mill', 'Hospital', 'East tower', 'Market'];
const SERIAL = '0123456789ABCDEF';
/** About a tenth of a degree around the town: 5 to 10 km. */
const SPREAD_DEGREES = 0.12;

/** A provider's fleet: sites in towns, an agent in each, and routers named after site and purpose. Equal for equal arguments. */
export function planFleet({ agents, routers, seed = 1 }: { agents: number; routers: number; seed?: number }): PlannedAgent[] {
  const random = seeded(seed);
  return Array.from({ length: agents }, (_, index) => {
    const place = PLACES[index % PLACES.length]!;
    const round = Math.floor(index / PLACES.length);
    const site = siteOf(place, round, random);
    const prefix = round === 0 ? place.code : `${place.code}-${shortKind(round)}`;
    // The remainder goes to the first agents.
    const count = Math.floor(routers / agents) + (index < routers % agents ? 1 : 0);
    return { name: `${prefix}-agent`, site, routers: planRouters(prefix, index, count, random) };
  });
}

function siteOf({ name, latitude, longitude, time_zone }: Place, round: number, random: Random): PlannedSite {
  if (round === 0) return { name, latitude, longitude, time_zone };
  const near = (degrees: number): number => Math.round((degrees + (random() - 0.5) * SPREAD_DEGREES) * 1000) / 1000;
  return { name: `${name}, ${kindOf(round)}`, latitude: near(latitude), longitude: near(longitude), time_zone };
}

const kindOf = (round: number): string => KINDS[round] ?? `Site ${round + 1}`;
const shortKind = (round: number): string => kindOf(round).toLowerCase().replaceAll(' ', '');

function planRouters(prefix: string, agent: number, count: number, random: Random): PlannedRouter[] {
  const numbers = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    // A site's first router is its gateway or its core.
    const model = chooseModel(random, index === 0 ? ['core', 'gw'] : ['gw', 'sw', 'ap', 'cpe', 'lte']);
    const number = (numbers.get(model.role) ?? 0) + 1;
    numbers.set(model.role, number);
    const name = `${prefix}-${model.role}${number}`;
    return {
      name,
      identity: name,
      host: `10.${16 + Math.floor(agent / 250)}.${agent % 250}.${index + 1}`,
      serial: `HG${letters(random, 9, SERIAL)}`,
      softwareId: `${letters(random, 4, SERIAL)}-${letters(random, 4, SERIAL)}`,
      version: byShare(random, VERSIONS),
      model,
      uptimeSeconds: between(random, 3600, 200 * 86_400),
      devices: model.role === 'sw' ? 0 : between(random, 0, model.role === 'core' ? 8 : 24),
    };
  });
}

function chooseModel(random: Random, roles: readonly FleetModel['role'][]): FleetModel {
  const fitting = MODELS.filter(({ role }) => roles.includes(role));
  return byShare(
    random,
    fitting.map((model) => [model, model.share] as const),
  );
}

function byShare<T>(random: Random, choices: readonly (readonly [T, number])[]): T {
  let left = random() * choices.reduce((sum, [, share]) => sum + share, 0);
  for (const [choice, share] of choices) {
    left -= share;
    if (left < 0) return choice;
  }
  return choices[0]![0];
}
