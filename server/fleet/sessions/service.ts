import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { newId } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { RecordWriter } from '../../platform/core/record-writer.ts';
import type { EndedBy, TunnelEnd, TunnelListener, TunnelRecord } from '../../platform/core/tunnel-record.ts';
import type { TeamValue } from '../../platform/core/team-counts.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { removeInBatches } from '../../platform/core/removal-batches.ts';
import { RoundTrips } from '../../platform/core/round-trips.ts';
import type { LinesElsewhere, MeasuredLine } from './lines-elsewhere.ts';
import {
  countAgents,
  countConnected,
  deleteRuns,
  deleteSessions,
  selectLines,
  selectOpenLines,
  selectSessions,
  upsertSessions,
} from './store.ts';
import type { OpenLine } from './store.ts';
import type { AgentLine, LineChange, Ping, SessionRow } from './types.ts';

/** Sessions that wait while the database is unavailable: 20,000 agents that connect and leave twice; 1 kB each. */
const MOST_WAITING = 40_000;
const DAY_MS = 24 * 3_600_000;

export interface SessionsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  /** Sessions that ended longer ago are deleted, milliseconds. */
  keepMs: number;
  /** This control plane, where several serve the database. */
  nodeId?: string | undefined;
}

interface Live {
  row: SessionRow;
  trips: RoundTrips;
}

/** The connection history of agents: open sessions, and for a time ended ones. Tunnels never wait for the database here. */
export class SessionsService implements TunnelListener {
  /** Tunnels that became ready, and ready ones that ended. */
  readonly changes = new Listeners<LineChange>();
  /** Pings of all tunnels, also of those that are not ready. */
  readonly pings = new Listeners<Ping>();
  /** Every tunnel that ended, ready or not. */
  readonly ends = new Listeners<{ teamId: string; endedBy: EndedBy }>();
  readonly #deps: SessionsDeps;
  readonly #writer: RecordWriter<SessionRow>;
  readonly #live = new Map<TunnelRecord, Live>();
  /** The open tunnel of an agent that was ready last. */
  readonly #newest = new Map<string, TunnelRecord>();
  #elsewhere: LinesElsewhere | undefined;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    const { storage, clock, log, counters } = deps;
    this.#writer = new RecordWriter({
      clock,
      log,
      counters,
      upsert: (rows) => storage.writes.write((tx) => upsertSessions(tx, rows)),
      most: MOST_WAITING,
      partyOf: (row) => row.team_id,
      kind: 'sessions',
    });
  }

  start(): void {
    this.#writer.start();
  }

  /** Where several control planes serve the database: from now on it also knows the lines of their agents. */
  askOthers(elsewhere: LinesElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** What is measured of the open sessions of an agent of this control plane. */
  measure(agentId: string): MeasuredLine {
    const newest = this.#newest.get(agentId);
    const live = newest && this.#live.get(newest);
    return { roundTripMs: rounded(live?.trips.last ?? null), sessions: this.#measuredOf(agentId) };
  }

  #measuredOf(agentId: string): SessionRow[] {
    const open = [...this.#live].filter(([{ agentId: id }]) => id === agentId);
    return open.map(([tunnel, { row, trips }]) => measured(row, tunnel, trips));
  }

  /** Writes what is still in memory; when every tunnel has ended. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }

  /** Settles when what is known so far is stored, or could not be stored now. */
  stored(): Promise<void> {
    return this.#writer.flush();
  }

  /** Of one agent, newest first; open ones as they stand now. The caller knows that the agent is the team's. */
  async list(teamId: string, agentId: string, page: Page): Promise<SessionRow[]> {
    await this.#writer.flush();
    const live = new Map(this.#measuredOf(agentId).map((row) => [row.id, row]));
    const rows = await selectSessions(this.#deps.storage.db, teamId, agentId, page);
    const elsewhere = (await this.#elsewhere?.measuredOf([agentId]))?.get(agentId);
    const told = new Map(elsewhere?.sessions.map((row) => [row.id, row]));
    return rows.map((row) => live.get(row.id) ?? (row.closed_at === null ? { ...row, ...told.get(row.id) } : row));
  }

  /** How agents of a team are connected. */
  async lines(teamId: string, agentIds: readonly string[]): Promise<Map<string, AgentLine>> {
    await this.#writer.flush();
    const stored = await selectLines(this.#deps.storage.db, teamId, agentIds, this.#deps.clock.now() - DAY_MS);
    const lines = new Map(agentIds.map((id) => [id, this.#line(id, stored.get(id))]));
    if (this.#elsewhere) await this.#addElsewhere(teamId, lines, this.#elsewhere);
    return lines;
  }

  /** What a tunnel with another control plane is like, from its stored session and from what is measured there. */
  async #addElsewhere(teamId: string, lines: Map<string, AgentLine>, elsewhere: LinesElsewhere): Promise<void> {
    const ids = elsewhere.among([...lines.keys()]);
    const none = new Map<string, never>();
    const [open, told] =
      ids.length === 0 ? [none, none] : await Promise.all([selectOpenLines(this.#deps.storage.db, teamId, ids), elsewhere.measuredOf(ids)]);
    for (const id of ids) {
      const line: OpenLine | undefined = open.get(id);
      const measuredLine: MeasuredLine | undefined = told.get(id);
      if (!line) continue;
      const { address, epoch, ready_at: since } = line;
      lines.set(id, { ...lines.get(id)!, address, epoch, since, roundTripMs: measuredLine?.roundTripMs ?? null });
    }
  }

  /** The source address of an agent's tunnel with another control plane; null when none has it. */
  async addressElsewhere(teamId: string, agentId: string): Promise<string | null> {
    const ids = this.#elsewhere?.among([agentId]) ?? [];
    return (await selectOpenLines(this.#deps.storage.db, teamId, ids)).get(agentId)?.address ?? null;
  }

  /** How many agents of each team are connected, away, or were never connected. For the metrics. */
  async countAgents(): Promise<TeamValue[]> {
    const connected = this.#elsewhere ? await countConnected(this.#deps.storage.db) : this.#countOwn();
    const known = await countAgents(this.#deps.storage.db);
    return known.flatMap(({ teamId, seen, neverSeen }) => {
      const now = Math.min(connected.get(teamId) ?? 0, seen + neverSeen);
      // The first session of an agent is in memory before it is in the database.
      const unseen = Math.min(neverSeen, seen + neverSeen - now);
      const counts = { connected: now, away: seen + neverSeen - now - unseen, never_connected: unseen };
      return Object.entries(counts).map(([state, value]) => ({ teamId, labels: { state }, value }));
    });
  }

  #countOwn(): Map<string, number> {
    const connected = new Map<string, number>();
    for (const { teamId } of this.#newest.values()) connected.set(teamId, (connected.get(teamId) ?? 0) + 1);
    return connected;
  }

  #line(
    agentId: string,
    stored: Awaited<ReturnType<typeof selectLines>> extends Map<string, infer Line> ? Line | undefined : never,
  ): AgentLine {
    const tunnel = this.#newest.get(agentId);
    const live = tunnel && this.#live.get(tunnel);
    const known = { routerCount: stored?.routers ?? 0, sessions24h: stored?.sessions ?? 0, lastEndedBy: stored?.ended_by ?? null };
    if (!live) return { ...known, address: stored?.address ?? null, epoch: null, since: stored?.closed_at ?? null, roundTripMs: null };
    return { ...known, address: live.row.address, epoch: live.row.epoch, since: live.row.ready_at, roundTripMs: rounded(live.trips.last) };
  }

  onOpened(tunnel: TunnelRecord): void {
    const { agentId, teamId, address, openedAt } = tunnel;
    const row: SessionRow = {
      id: newId(openedAt),
      team_id: teamId,
      agent_id: agentId,
      epoch: null,
      opened_at: openedAt,
      ready_at: null,
      closed_at: null,
      address,
      agent_version: null,
      reset: 0,
      ended_by: null,
      round_trip_min_us: null,
      round_trip_p50_us: null,
      round_trip_p95_us: null,
      pings_answered: 0,
      pings_lost: 0,
      bytes_in: null,
      bytes_out: null,
      node_id: this.#deps.nodeId ?? null,
    };
    this.#live.set(tunnel, { row, trips: new RoundTrips() });
    this.#writer.put(row);
  }

  onProgress(tunnel: TunnelRecord): void {
    const live = this.#live.get(tunnel);
    if (!live) return;
    const { agentId, teamId, address, epoch, agentVersion, reset, readyAt } = tunnel;
    const isReady = readyAt !== null && live.row.ready_at === null;
    live.row = { ...live.row, epoch, agent_version: agentVersion, reset: reset ? 1 : 0, ready_at: live.row.ready_at ?? readyAt };
    this.#writer.put(live.row);
    if (!isReady) return;
    this.#newest.set(agentId, tunnel);
    this.changes.publish({ kind: 'online', teamId, agentId, address, epoch, endedBy: null, since: readyAt });
  }

  onPing(tunnel: TunnelRecord, roundTripMs: number | null): void {
    const live = this.#live.get(tunnel);
    if (!live) return;
    if (roundTripMs === null) live.row = { ...live.row, pings_lost: live.row.pings_lost + 1 };
    else live.trips.add(roundTripMs);
    this.pings.publish({ agentId: tunnel.agentId, teamId: tunnel.teamId, roundTripMs });
  }

  onEnded(tunnel: TunnelRecord): void {
    const live = this.#live.get(tunnel);
    const { end, agentId, teamId, address, epoch } = tunnel;
    if (!live || !end) return;
    this.#live.delete(tunnel);
    this.ends.publish({ teamId, endedBy: end.endedBy });
    const since = Math.max(live.row.opened_at, momentOf(end));
    this.#writer.put({ ...measured(live.row, tunnel, live.trips), closed_at: since, ended_by: end.endedBy });
    if (this.#newest.get(agentId) !== tunnel) return;
    this.#newest.delete(agentId);
    this.changes.publish({ kind: 'offline', teamId, agentId, address, epoch, endedBy: end.endedBy, since });
  }

  /** The wall clock was set: open sessions keep their age. storage/move-plans.ts moves the rows in the database. */
  onClockStep(stepMs: number): void {
    for (const live of this.#live.values()) {
      const { opened_at: openedAt, ready_at: readyAt } = live.row;
      live.row = { ...live.row, opened_at: openedAt + stepMs, ready_at: readyAt === null ? null : readyAt + stepMs };
      this.#writer.put(live.row);
    }
  }

  /** Deletes what ended long ago. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock, keepMs } = this.#deps;
    const before = clock.now() - keepMs;
    await removeInBatches(storage, (tx, limit) => deleteSessions(tx, before, limit), { signal });
    await storage.writes.write((tx) => deleteRuns(tx, before));
  }
}

/** When a tunnel stopped working: after a silent cut, the time of the last byte. */
export function momentOf({ endedBy, at, lastHeardAt }: TunnelEnd): number {
  return endedBy === 'silence' ? lastHeardAt : at;
}

function measured(row: SessionRow, { bytesIn, bytesOut }: TunnelRecord, trips: RoundTrips): SessionRow {
  return {
    ...row,
    round_trip_min_us: micros(trips.min),
    round_trip_p50_us: micros(trips.quantile(0.5)),
    round_trip_p95_us: micros(trips.quantile(0.95)),
    pings_answered: trips.count,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
  };
}

function micros(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000);
}

/** Milliseconds with one decimal place, the precision of the measurement. */
function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
