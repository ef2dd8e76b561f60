import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from '../../server/platform/core/ids.ts';
import { between, pick, seeded } from '../fleet/random.ts';
import type { Random } from '../fleet/random.ts';
import { healthSteps, linkSteps } from './invent-measurements.ts';

type Row = Record<string, string | number | null>;
interface Line {
  table?: string;
  row?: Row;
  end?: true;
  rows?: number;
}

/** From then to then, in ms. */
interface Span {
  from: number;
  to: number;
  reason: string;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Steps of health for all routers together: a large fleet has a shorter past of it, which keeps the import short. */
const MOST_HEALTH_STEPS = 120_000;
/** How far back the demonstration's control plane pretends to have run. */
const PAST_MS = 9 * DAY;
/** Tables that are invented anew, and not copied. */
const REPLACED = new Set([
  'server_runs',
  'agent_sessions',
  'agent_link_steps',
  'router_state_changes',
  'router_health_steps',
  'faults',
  'kept_events',
]);
const AGENT_ENDS = ['silence', 'network', 'network', 'left'];
const ROUTER_REASONS = ['timeout', 'timeout', 'timeout', 'refused', 'login_refused', 'closed'];

/** Names of agents that are away now, and since how many ms. */
export type AwayAgents = ReadonlyMap<string, number>;

/**
 * Copies an export of a database and gives its fleet a past: sessions, states, measurements and faults of the last days, all of them invented. Only the
 * product's own export and import are used.
 * @param now end of the invented time
 */
export async function inventPast(
  from: string,
  to: string,
  { now, away, seed }: { now: number; away: AwayAgents; seed: number },
): Promise<void> {
  const kept: Line[] = [];
  for await (const text of createInterface({ input: createReadStream(from, 'utf8'), crlfDelay: Infinity }))
    kept.push(JSON.parse(text) as Line);
  const rowsOf = (table: string): Row[] => kept.filter((line) => line.table === table).map(({ row }) => row!);
  const [agents, routers] = [rowsOf('agents'), rowsOf('routers')];
  const past = new Past(now, seeded(seed), routers.length);
  for (const agent of agents)
    past.addAgent(
      agent,
      routers.filter((router) => router['agent_id'] === agent['id']),
      away.get(String(agent['name'])),
    );
  const [header, ...body] = kept.filter((line) => line.end !== true && !REPLACED.has(line.table ?? ''));
  // The order of the tables matters to nobody, as long as those come first that others name: all of them are copied.
  const lines = [header!, ...body, ...past.lines()];
  const all = [...lines, { end: true, rows: lines.length - 1 }];
  await pipeline(Readable.from(all.map((line) => `${JSON.stringify(line)}\n`)), createWriteStream(to, { mode: 0o600, flush: true }));
}

class Past {
  readonly #now: number;
  readonly #start: number;
  readonly #random: Random;
  readonly #rows: { table: string; row: Row }[] = [];
  /** Health is known since then. */
  readonly #healthSince: number;

  constructor(now: number, random: Random, routers: number) {
    this.#now = now;
    this.#start = now - PAST_MS;
    this.#random = random;
    this.#healthSince = Math.max(this.#start, now - Math.floor(MOST_HEALTH_STEPS / routers) * HOUR);
    const row = { id: newId(this.#start), started_at: this.#start, alive_at: now, stopped_at: now };
    this.#rows.push({ table: 'server_runs', row });
  }

  /** In the order of their ids, as an export has them. */
  lines(): Line[] {
    const keyOf = ({ table, row }: { table: string; row: Row }): string => `${table} ${row['id'] ?? ''}`;
    return this.#rows
      .map((line) => ({ line, key: keyOf(line) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
      .map(({ line }) => line);
  }

  /** @param awaySince how long it has been away, ms */
  addAgent(agent: Row, routers: readonly Row[], awaySince: number | undefined): void {
    const outages = this.#spans(this.#random() < 0.06 ? 40 : between(this.#random, 0, 3), [30_000, 40 * 60_000], AGENT_ENDS);
    if (awaySince !== undefined) {
      const last = this.#now - awaySince;
      outages.splice(0, outages.length, ...outages.filter(({ to }) => to < last), { from: last, to: Infinity, reason: 'silence' });
    }
    for (const row of [agent, ...routers]) row['created_at'] = this.#start - between(this.#random, 30, 400) * DAY;
    // An outage that goes on has no end, so the agent came back last from the one before.
    agent['connected_at'] = outages.findLast(({ to }) => to !== Infinity)?.to ?? this.#start;
    if (awaySince !== undefined) Object.assign(agent, { disconnected_at: this.#now - awaySince });
    this.#sessions(agent, outages);
    for (const router of routers) this.#router(router, outages);
  }

  #sessions(agent: Row, outages: readonly Span[]): void {
    const network = between(this.#random, 1, 254);
    let opened = this.#start;
    let epoch = 1;
    const least = between(this.#random, 4000, 30_000);
    const measured = linkSteps(String(agent['id']), { from: opened, to: this.#now }, outages, least / 1000, this.#random);
    for (const row of measured) this.#rows.push({ table: 'agent_link_steps', row });
    for (const { from, to, reason } of [...outages, { from: this.#now, to: Infinity, reason: 'server_stopped' }]) {
      const length = from - opened;
      if (length > 0)
        this.#add('agent_sessions', opened, {
          team_id: agent['team_id']!,
          agent_id: agent['id']!,
          epoch,
          opened_at: opened,
          ready_at: opened + between(this.#random, 40, 400),
          closed_at: from,
          address: `203.0.113.${network}`,
          agent_version: agent['version'] ?? null,
          reset: 0,
          ended_by: reason,
          round_trip_min_us: least,
          round_trip_p50_us: Math.round(least * 1.2),
          round_trip_p95_us: Math.round(least * (1.5 + this.#random() * 3)),
          pings_answered: Math.floor(length / 22_000),
          pings_lost: between(this.#random, 0, 3),
          bytes_in: Math.floor(length / 50),
          bytes_out: Math.floor(length / 200),
        });
      opened = to;
      epoch += 1;
      if (to === Infinity) break;
    }
    // The next connection has a higher one.
    agent['epoch'] = Math.max(Number(agent['epoch']), epoch);
    agent['confirmed_epoch'] = Number(agent['confirmed_epoch']);
  }

  #router(router: Row, agentOutages: readonly Span[]): void {
    const own = this.#spans(this.#random() < 0.5 ? 0 : between(this.#random, 1, 5), [60_000, 4 * HOUR], ROUTER_REASONS);
    const isApart = (span: Span): boolean => agentOutages.every(({ from, to }) => span.to < from || span.from > to);
    const gaps = [
      ...agentOutages.map((span) => ({ ...span, state: 'agent_away' })),
      ...own.filter(isApart).map((span) => ({ ...span, state: 'not_answering' })),
    ].toSorted((a, b) => a.from - b.from);
    const measured = healthSteps(router, { from: this.#healthSince, to: this.#now }, gaps, this.#random);
    for (const row of measured) this.#rows.push({ table: 'router_health_steps', row });
    let since = this.#start;
    const change = (state: string, reason: string | null, until: number | null): void => {
      if (until !== null && until <= since) return;
      this.#add('router_state_changes', since, { team_id: router['team_id']!, router_id: router['id']!, state, reason, since, until });
      since = until ?? since;
    };
    for (const { from, to, state, reason } of gaps) {
      change('answering', null, from);
      change(state, reason, to === Infinity ? null : to);
      if (to === Infinity) return;
      if (state === 'not_answering') this.#fault(router, from, to, reason);
    }
    change('answering', null, null);
  }

  #fault(router: Row, from: number, to: number, reason: string): void {
    if (to - from < 3 * 60_000) return;
    this.#add('faults', from, {
      team_id: router['team_id']!,
      router_id: router['id']!,
      type: 'router_offline',
      severity: 'critical',
      message: 'The router does not answer its agent',
      cause: reason,
      created_at: from,
      resolved_at: to,
      occurrences: 1,
      updated_at: to,
    });
  }

  /** `count` times in the past that do not overlap, oldest first. */
  #spans(count: number, [shortest, longest]: readonly [number, number], reasons: readonly string[]): Span[] {
    const slot = (PAST_MS - HOUR) / Math.max(1, count);
    return Array.from({ length: count }, (_, index) => {
      const length = Math.min(shortest + (longest - shortest) * this.#random() ** 3, slot / 2);
      const from = Math.floor(this.#start + index * slot + this.#random() * (slot - length));
      return { from, to: Math.floor(from + length), reason: pick(this.#random, reasons) };
    });
  }

  #add(table: string, at: number, row: Row): void {
    this.#rows.push({ table, row: { id: newId(at), ...row } });
  }
}
