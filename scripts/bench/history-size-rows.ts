import { upsertHealthSteps } from '../../server/fleet/health/store.ts';
import type { HealthStepRow } from '../../server/fleet/health/types.ts';
import { upsertLinkSteps } from '../../server/fleet/links/store.ts';
import type { LinkStepRow } from '../../server/fleet/links/types.ts';
import { upsertSessions } from '../../server/fleet/sessions/store.ts';
import type { SessionRow } from '../../server/fleet/sessions/types.ts';
import { upsertStates } from '../../server/fleet/states/store.ts';
import type { StateRow } from '../../server/fleet/states/types.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { FINE_STEP_MS, HOUR_STEP_MS } from '../../server/platform/core/time-steps.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { seedRouter } from '../../test/harness/seed.ts';
import type { SeededRouter } from '../../test/harness/seed.ts';
import type { Row } from './report.ts';
import { onEachDatabase } from './sized-databases.ts';
import type { SizedDatabase } from './sized-databases.ts';

const DAY_MS = 24 * HOUR_STEP_MS;
const START = Date.UTC(2031, 0, 1);
const DAYS = 366;
const ROUTERS = 10;
/** One statement, as the product writes them: the rows of all routers in the order of time. */
const ROWS_AT_ONCE = 50;
/** A router on a bad line: it is lost and found again twice a day, and so is its agent. */
const CHANGES_A_DAY = 4;
const SESSIONS_A_DAY = 2;

type StepColumns = Pick<HealthStepRow, 'span_s' | 'at' | 'part'>;

/** As the settings have it: 30 days by the quarter of an hour, and 336 before that by the hour. */
const STEPS: StepColumns[] = [
  { spanMs: HOUR_STEP_MS, from: START, days: 336 },
  { spanMs: FINE_STEP_MS, from: START + 336 * DAY_MS, days: 30 },
].flatMap(({ spanMs, from, days }) =>
  Array.from({ length: (days * DAY_MS) / spanMs }, (_, index) => ({
    span_s: spanMs / 1000,
    at: from + index * spanMs,
    part: (index * 7919 + 1_000_000_007) % 2 ** 31,
  })),
);

/** Beginnings of what happens so often in a day, at odd moments. */
function moments(aDay: number): number[] {
  const every = DAY_MS / aDay;
  return Array.from({ length: DAYS * aDay }, (_, index) => Math.round(START + index * every + ((index * 7919) % 1000)));
}

/**
 * What a year of 1,000 routers, each with an agent of its own, may take in all: that is a disk of 80 GB for 20,000 of them on SQLite. PostgreSQL
 * keeps the version of each row and pages that are half full.
 */
const TARGET_BYTES = { SQLite: 4e9, PostgreSQL: 10e9 };
/** What each may take of that on its own: more than their sum. */
const SHARES = { health: 0.5, link: 0.5, states: 0.25, sessions: 0.25 };

interface Kind {
  name: keyof typeof SHARES;
  about: string;
  /** Of one router. */
  rows: number;
  fill: (storage: Storage, places: readonly SeededRouter[]) => Promise<void>;
}

const KINDS: Kind[] = [
  {
    name: 'health',
    about: 'health',
    rows: STEPS.length,
    fill: (storage, places) => fillSteps(storage, places, upsertHealthSteps, healthOf),
  },
  {
    name: 'link',
    about: 'link quality',
    rows: STEPS.length,
    fill: (storage, places) => fillSteps(storage, places, upsertLinkSteps, linkOf),
  },
  {
    name: 'states',
    about: `states (${CHANGES_A_DAY} changes a day), from which availability is computed`,
    rows: DAYS * CHANGES_A_DAY,
    fill: (storage, places) => fillMoments(storage, places, CHANGES_A_DAY, upsertStates, stateOf),
  },
  {
    name: 'sessions',
    about: `sessions (${SESSIONS_A_DAY} a day)`,
    rows: DAYS * SESSIONS_A_DAY,
    fill: (storage, places) => fillMoments(storage, places, SESSIONS_A_DAY, upsertSessions, sessionOf),
  },
];

/** The history of a year as it lies in the database: rows and bytes for 1,000 routers with an agent each, on each database of this machine. */
export async function historySizeRows(): Promise<Row[]> {
  return onEachDatabase(measure);
}

async function measure({ engine, storage, size }: SizedDatabase): Promise<Row[]> {
  const places = await Promise.all(Array.from({ length: ROUTERS }, () => seedRouter(storage)));
  const rows: Row[] = [];
  const sum = { bytes: 0, rows: 0 };
  for (const { name, about, rows: count, fill } of KINDS) {
    const before = await size();
    await fill(storage, places);
    const bytes = (((await size()) - before) / ROUTERS) * 1000;
    rows.push(rowOf(`${engine}: ${about}`, { bytes, rows: count * 1000 }, TARGET_BYTES[engine] * SHARES[name]));
    sum.bytes += bytes;
    sum.rows += count * 1000;
  }
  return [...rows, rowOf(`${engine}: all history`, sum, TARGET_BYTES[engine])];
}

function rowOf(what: string, { bytes, rows }: { bytes: number; rows: number }, most: number): Row {
  return {
    name: `${what}, 1,000 routers for a year, to ${most / 1e9} GB`,
    ratio: bytes / most,
    bar: { at: 'most', value: 1 },
    detail: `${(bytes / 1e9).toFixed(2)} GB, ${(rows / 1e6).toFixed(1)} million rows of ${Math.round(bytes / rows)} bytes`,
  };
}

type Upsert<Stored> = (tx: Parameters<Parameters<Storage['writes']['write']>[0]>[0], rows: readonly Stored[]) => Promise<void>;

async function fillSteps<Stored>(
  storage: Storage,
  places: readonly SeededRouter[],
  upsert: Upsert<Stored>,
  rowOfStep: (place: SeededRouter, step: StepColumns) => Stored,
): Promise<void> {
  for (const steps of inChunks(STEPS, ROWS_AT_ONCE)) {
    const rows = steps.flatMap((step) => places.map((place) => rowOfStep(place, step)));
    await storage.writes.write((tx) => upsert(tx, rows));
  }
}

async function fillMoments<Stored>(
  storage: Storage,
  places: readonly SeededRouter[],
  aDay: number,
  upsert: Upsert<Stored>,
  rowOfMoment: (place: SeededRouter, from: number, until: number) => Stored,
): Promise<void> {
  const all = moments(aDay);
  for (const chunk of inChunks(
    all.map((from, index) => ({ from, until: all[index + 1] ?? from + 1 })),
    ROWS_AT_ONCE,
  )) {
    const rows = chunk.flatMap(({ from, until }) => places.map((place) => rowOfMoment(place, from, until)));
    await storage.writes.write((tx) => upsert(tx, rows));
  }
}

/** A board with every sensor, read once a minute. */
function healthOf({ routerId }: SeededRouter, key: StepColumns): HealthStepRow {
  const count = key.span_s / 60;
  const spread = (value: number) => ({ count, sum: count * value, min: value - (key.part % 9), max: value + (key.part % 31) });
  const values = { cpu: spread(64), memory: spread(413), disk: spread(731), celsius: spread(384), volts: spread(2402) };
  const columns = Object.entries(values).flatMap(([name, kinds]) =>
    Object.entries(kinds).map(([kind, value]) => [`${name}_${kind}`, value]),
  );
  return { router_id: routerId, ...key, ...Object.fromEntries(columns) } as HealthStepRow;
}

/** A line over a mobile network: 40 pings in each quarter of an hour, in six widths. */
function linkOf({ agentId }: SeededRouter, key: StepColumns): LinkStepRow {
  const answered = key.span_s / 22.5;
  const widths = [40, 41, 42, 43, 47, 52];
  const counts = widths.map((width) => `${width}:${Math.round(answered / widths.length)}`).join(',');
  const spread = { least_us: 26_000 + (key.part % 999), most_us: 140_000 + (key.part % 9999) };
  return { agent_id: agentId, ...key, answered, lost: key.part % 3, ...spread, counts };
}

/** Answering and not, in turns. */
function stateOf({ teamId, routerId }: SeededRouter, since: number, until: number): StateRow {
  const isUp = Math.round((since - START) / (DAY_MS / CHANGES_A_DAY)) % 2 === 0;
  const state = isUp ? { state: 'answering', reason: null } : { state: 'not_answering', reason: 'timeout' };
  return { id: newId(since), team_id: teamId, router_id: routerId, ...state, since, until };
}

function sessionOf({ teamId, agentId }: SeededRouter, openedAt: number, closedAt: number): SessionRow {
  return {
    id: newId(openedAt),
    team_id: teamId,
    agent_id: agentId,
    epoch: Math.round((openedAt - START) / 1000),
    opened_at: openedAt,
    ready_at: openedAt + 120,
    closed_at: closedAt,
    address: '198.51.100.177',
    agent_version: '0.1.0',
    reset: 0,
    ended_by: 'network',
    round_trip_min_us: 26_123,
    round_trip_p50_us: 41_234,
    round_trip_p95_us: 140_345,
    pings_answered: 768,
    pings_lost: 3,
    bytes_in: 2_345_678,
    bytes_out: 1_234_567,
    node_id: null,
  };
}
