import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { upsertHealthSteps } from '../../server/fleet/health/store.ts';
import type { HealthStepRow } from '../../server/fleet/health/types.ts';
import { upsertLinkSteps } from '../../server/fleet/links/store.ts';
import type { LinkStepRow } from '../../server/fleet/links/types.ts';
import { HOUR_STEP_MS, FINE_STEP_MS } from '../../server/platform/core/time-steps.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { seedRouter } from '../../test/harness/seed.ts';
import { silentLog } from '../../test/harness/silent-log.ts';
import type { Row } from './report.ts';

const DAY_MS = 24 * HOUR_STEP_MS;
const START = Date.UTC(2031, 0, 1);
const ROUTERS = 10;
/** One statement, as the product writes them: the steps of all routers in the order of time. */
const STEPS_AT_ONCE = 50;

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

/** What a year of 1,000 routers, each with an agent of its own, may take: that is a disk of 80 GB for 20,000 of them. */
const TARGET_BYTES = 4e9;

/** The measurements of a year, as they lie in the database: rows and bytes for 1,000 routers with an agent each. */
export async function historyRows(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-history-'));
  const file = path.join(folder, 'history.db');
  const storage = await openStorage(`sqlite:${file}`, { log: silentLog });
  try {
    await migrate(storage);
    const places = await Promise.all(Array.from({ length: ROUTERS }, () => seedRouter(storage)));
    const size = async (): Promise<number> => (await stat(file)).size;
    const atStart = await size();
    for (const keys of inChunks(STEPS, STEPS_AT_ONCE)) {
      const rows = keys.flatMap((key) => places.map(({ routerId }) => healthOf(routerId, key)));
      await storage.writes.write((tx) => upsertHealthSteps(tx, rows));
    }
    const withHealth = await sizeOnDisk(storage, size);
    for (const keys of inChunks(STEPS, STEPS_AT_ONCE)) {
      const rows = keys.flatMap((key) => places.map(({ agentId }) => linkOf(agentId, key)));
      await storage.writes.write((tx) => upsertLinkSteps(tx, rows));
    }
    const withLinks = await sizeOnDisk(storage, size);
    return [rowOf('health of', withHealth - atStart), rowOf('link quality of', withLinks - withHealth)];
  } finally {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** SQLite keeps new pages in a file beside it until somebody asks. */
async function sizeOnDisk({ db }: Storage, size: () => Promise<number>): Promise<number> {
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  return size();
}

function rowOf(name: string, bytes: number): Row {
  const [ofThousand, rows] = [(bytes / ROUTERS) * 1000, STEPS.length * 1000];
  return {
    name: `${name} 1,000 routers for a year, to 4 GB`,
    ratio: ofThousand / TARGET_BYTES,
    bar: { at: 'most', value: 0.5 },
    detail: `${(ofThousand / 1e9).toFixed(2)} GB, ${(rows / 1e6).toFixed(1)} million rows of ${Math.round(ofThousand / rows)} bytes`,
  };
}

/** A board with every sensor, read once a minute. */
function healthOf(routerId: string, key: StepColumns): HealthStepRow {
  const count = key.span_s / 60;
  const spread = (value: number) => ({ count, sum: count * value, min: value - (key.part % 9), max: value + (key.part % 31) });
  const values = { cpu: spread(64), memory: spread(413), disk: spread(731), celsius: spread(384), volts: spread(2402) };
  const columns = Object.entries(values).flatMap(([name, kinds]) =>
    Object.entries(kinds).map(([kind, value]) => [`${name}_${kind}`, value]),
  );
  return { router_id: routerId, ...key, ...Object.fromEntries(columns) } as HealthStepRow;
}

/** A line over a mobile network: 40 pings in each quarter of an hour, in six widths. */
function linkOf(agentId: string, key: StepColumns): LinkStepRow {
  const answered = key.span_s / 22.5;
  const widths = [40, 41, 42, 43, 47, 52];
  const counts = widths.map((width) => `${width}:${Math.round(answered / widths.length)}`).join(',');
  const spread = { least_us: 26_000 + (key.part % 999), most_us: 140_000 + (key.part % 9999) };
  return { agent_id: agentId, ...key, answered, lost: key.part % 3, ...spread, counts };
}
