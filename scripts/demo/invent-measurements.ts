import { RoundTrips } from '../../server/platform/core/round-trips.ts';
import { FINE_STEP_MS, HOUR_STEP_MS, stepStart } from '../../server/platform/core/time-steps.ts';
import { UNITS } from '../../server/fleet/health/types.ts';
import type { Measurement } from '../../server/fleet/health/types.ts';
import { MODELS } from '../fleet/models.ts';
import type { Random } from '../fleet/random.ts';

type Row = Record<string, string | number | null>;

/** Milliseconds since 1970. */
export interface Stretch {
  from: number;
  to: number;
}

/** Between two pings of an agent's line; every second one is enough for a curve. */
const PING_MS = 44_000;
/** Between two readings of a router's health. */
const READING_MS = 60_000;
/** Told apart from what the control plane writes itself, whose parts are random. */
const PART = 0;
const DAY_MS = 24 * HOUR_STEP_MS;
/** Of a measurement: how far it goes up in the day, and how much two readings differ, each as a share of its mean. */
const SHAPES = {
  cpu: { day: 0.9, noise: 0.5 },
  memory: { day: 0.15, noise: 0.06 },
  disk: { day: 0, noise: 0 },
  celsius: { day: 0.08, noise: 0.03 },
  volts: { day: 0, noise: 0.01 },
} as const;

/** Whole hours, then quarters of an hour up to now, as the control plane keeps them. Oldest first. */
export function stepsOf({ from, to }: Stretch): { at: number; lengthMs: number }[] {
  const lastHour = stepStart(to, HOUR_STEP_MS);
  const steps = (first: number, end: number, lengthMs: number): { at: number; lengthMs: number }[] =>
    Array.from({ length: Math.max(0, Math.floor((end - first) / lengthMs)) }, (_, index) => ({ at: first + index * lengthMs, lengthMs }));
  return [...steps(stepStart(from, HOUR_STEP_MS), lastHour, HOUR_STEP_MS), ...steps(lastHour, stepStart(to, FINE_STEP_MS), FINE_STEP_MS)];
}

/** Round trips of an agent's line while it was connected. @param leastMs the best it does */
export function linkSteps(agentId: string, stretch: Stretch, gaps: readonly Stretch[], leastMs: number, random: Random): Row[] {
  return stepsOf(stretch).flatMap(({ at, lengthMs }) => {
    const pings = Math.floor(heardMs(at, lengthMs, gaps) / PING_MS);
    if (pings === 0) return [];
    const busy = 1 + 0.6 * daytime(at) * random();
    const trips = new RoundTrips();
    for (let ping = 0; ping < pings; ping += 1) trips.add(leastMs * (1 + busy * random() ** 4 * 2));
    const { least, most, counts } = trips.stored;
    const lost = random() < 0.04 ? 1 : 0;
    return [{ agent_id: agentId, span_s: lengthMs / 1000, at, part: PART, answered: pings, lost, least_us: least, most_us: most, counts }];
  });
}

/** The health of a router while it answered. */
export function healthSteps(router: Row, stretch: Stretch, gaps: readonly Stretch[], random: Random): Row[] {
  const usually = usualReadings(router['model']);
  return stepsOf(stretch).flatMap(({ at, lengthMs }) => {
    const readings = Math.floor(heardMs(at, lengthMs, gaps) / READING_MS);
    if (readings === 0) return [];
    const row: Row = { router_id: router['id']!, span_s: lengthMs / 1000, at, part: PART };
    for (const [name, { day, noise }] of Object.entries(SHAPES) as [Measurement, (typeof SHAPES)[Measurement]][]) {
      const usual = usually[name];
      const mean = (usual ?? 0) * (1 - day / 3 + day * daytime(at) + noise * (random() - 0.5));
      const width = (usual ?? 0) * noise * (0.5 + random());
      const count = usual === null ? 0 : readings;
      row[`${name}_count`] = count;
      row[`${name}_sum`] = Math.round(mean) * count;
      row[`${name}_min`] = count === 0 ? null : Math.round(Math.max(0, mean - width));
      row[`${name}_max`] = count === 0 ? null : Math.round(mean + width);
    }
    return [row];
  });
}

/** The middle of what a light router of that model reports, in the units that are stored. */
function usualReadings(name: unknown): Record<Measurement, number | null> {
  const model = MODELS.find((one) => one.model === name);
  const degrees = Object.values(model?.temperatures ?? {});
  return {
    cpu: (model?.role === 'core' ? 18 : 9.5) * UNITS.cpu,
    memory: 50 * UNITS.memory,
    disk: 40 * UNITS.disk,
    celsius: degrees.length === 0 ? null : Math.max(...degrees) * UNITS.celsius,
    volts: model?.hasTwoSupplies === true ? null : 24 * UNITS.volts,
  };
}

function heardMs(at: number, lengthMs: number, gaps: readonly Stretch[]): number {
  const lost = gaps.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, at + lengthMs) - Math.max(from, at)), 0);
  return lengthMs - lost;
}

/** 0 in the night, 1 in the early afternoon. */
function daytime(at: number): number {
  return Math.max(0, Math.sin(((at % DAY_MS) / DAY_MS) * 2 * Math.PI - Math.PI / 2 - 0.3)) ** 0.7;
}
