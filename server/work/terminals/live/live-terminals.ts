import type { ChannelSocket } from '../../../../protocol/index.ts';
import { FairShares } from '../../../../runtime/fair-shares.ts';
import type { AuditService } from '../../../access/audit/service.ts';
import type { RoutersService } from '../../../fleet/routers/service.ts';
import type { AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import { ROLES } from '../../../platform/core/principal.ts';
import { within } from '../../../platform/core/within.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { TerminalCluster } from '../cluster/types.ts';
import { OPEN_TERMINALS, SIZE_WAIT_MS } from '../limits.ts';
import type { TerminalLimits } from '../limits.ts';
import { Recorder } from '../recording/recorder.ts';
import type { Recordings } from '../recording/recordings.ts';
import { markEnded, selectAllOpen, selectRoleOf } from '../store.ts';
import type { TerminalKey } from '../store.ts';
import { ROLE_OF_LEVEL } from '../types.ts';
import type { Ending, TerminalChange, TerminalGrant, TerminalRecord } from '../types.ts';
import { hasEnded, holderOf, isWrongTicket, keyOf, openerOf, RECORDING_FULL, RIGHTS_LOST, SHELL_GONE } from './facts.ts';
import { LiveTerminal } from './live-terminal.ts';

export interface LiveTerminalsDeps {
  storage: Storage;
  recordings: Recordings;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: AgentGateway;
  audit: Pick<AuditService, 'record'>;
  clock: Clock;
  log: Log;
  limits: TerminalLimits;
  /** Null, or nothing, for a control plane that serves its database alone. */
  cluster?: TerminalCluster | null;
}

/** Longest wait for one terminal to be stored at a stop, milliseconds. */
const STOP_MS = 5000;

/** The open terminals of this node: connected to their agents, watched, and ended. */
export class LiveTerminals {
  /** Terminals that this process has opened or ended. */
  readonly changes = new Listeners<TerminalChange>();
  /** Open terminals by team and router. */
  readonly shares = new FairShares(OPEN_TERMINALS);
  readonly #deps: LiveTerminalsDeps;
  readonly #live = new Map<string, LiveTerminal>();
  /** Terminals that hold a share: after a restart, some may have none left for them. */
  readonly #holding = new Set<string>();
  /** Ends that are being stored, by terminal. */
  readonly #endings = new Map<string, Promise<void>>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #ticks: Periodic;
  /** Of several control planes: whether the database still says that a terminal lives here. */
  #isHome: ((live: LiveTerminal) => Promise<boolean>) | undefined;
  #recheckedAt: number;
  #isStopping = false;

  constructor(deps: LiveTerminalsDeps) {
    this.#deps = deps;
    this.#recheckedAt = deps.clock.monotonic();
    this.#ticks = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.limits.tickMs,
      failure: 'the times of terminals could not be checked',
      run: () => this.#tick(),
    });
  }

  /** Carries on with terminals that were open when the server stopped, as soon as their agents are back. */
  async start(): Promise<void> {
    // Of several control planes, each carries on with those that it takes over.
    if (!this.#deps.cluster) await this.takeUp(await selectAllOpen(this.#deps.storage.db));
    this.#ticks.start();
  }

  /** Carries on with stored terminals of this control plane. @throws a storage error */
  async takeUp(records: readonly TerminalRecord[]): Promise<void> {
    for (const record of records) {
      if (this.#live.has(record.id) || this.#isStopping) continue;
      if (record.opened_at === null) {
        await this.storeEnd(keyOf(record), { reason: 'not_opened', message: 'the server was restarted' });
      } else {
        this.#resume(this.add(record, { hasShare: this.shares.take(holderOf(record)) }));
      }
    }
  }

  /** Asks this before the agent is asked for another channel. */
  checkHome(isHome: (live: LiveTerminal) => Promise<boolean>): void {
    this.#isHome = isHome;
  }

  /** Leaves the shells at their agents, which keep them for five minutes. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await this.#ticks.stop();
    const lives = [...this.#live.values()];
    // Those whose end waits for another attempt: this is the last one. Otherwise the next start would take them for open.
    const unstored = lives.flatMap((live) => (live.ended && !this.#endings.has(live.id) ? [{ live, ending: live.ended }] : []));
    for (const live of lives) live.leave();
    for (const { live, ending } of unstored) void this.#track(this.#finish(live, ending));
    await within(
      Promise.all(lives.map((live) => live.recorder.close())).then(() => undefined),
      STOP_MS,
    );
    this.#live.clear();
    await within(
      Promise.all(this.#tasks).then(() => undefined),
      STOP_MS,
    );
  }

  get(id: string): LiveTerminal | undefined {
    return this.#live.get(id);
  }

  all(): LiveTerminal[] {
    return [...this.#live.values()];
  }

  /** Whether this control plane may have one more of this router. */
  hasRoom(record: TerminalRecord): boolean {
    const holder = holderOf(record);
    const hasRoom = this.shares.take(holder);
    if (hasRoom) this.shares.giveBack(holder);
    return hasRoom;
  }

  /**
   * The terminal of a ticket, which is used up.
   * @throws AppError `unauthenticated` for a ticket that is wrong, used or too old; `conflict` when the terminal has ended
   */
  async redeem(routerId: string, id: string, ticket: string): Promise<LiveTerminal> {
    const live = this.#live.get(id);
    if (!live || live.routerId !== routerId || !live.redeem(ticket)) throw isWrongTicket();
    if (!(await this.isAllowed(live))) {
      await this.recheck(live.teamId);
      throw new AppError('unauthenticated', 'the opener of this terminal may no longer use it');
    }
    if (live.ended) throw hasEnded();
    return live;
  }

  /** Leaves the shell at the agent for another control plane, and stores what was recorded. What cannot be stored now, the agent sends again. */
  async leave(live: LiveTerminal): Promise<void> {
    live.leave('elsewhere');
    await live.recorder.close();
    this.#forget(live);
  }

  /** Another control plane has it: nothing of it is stored here any more. */
  letGo(live: LiveTerminal): void {
    live.leave('elsewhere');
    live.recorder.discard();
    this.#forget(live);
  }

  /** Asks for the channels that are missing. */
  resumeAll(): void {
    for (const live of this.#live.values()) if (!live.isOpening) this.#resume(live);
  }

  /** Open terminals of each team. */
  byTeam(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { teamId } of this.#live.values()) counts.set(teamId, (counts.get(teamId) ?? 0) + 1);
    return counts;
  }

  /** Makes a stored terminal live. The share that was taken for it is given back at its end. */
  add(record: TerminalRecord, { hasShare }: { hasShare: boolean }): LiveTerminal {
    const { clock, limits, gateway } = this.#deps;
    const live: LiveTerminal = new LiveTerminal({
      id: record.id,
      teamId: record.team_id,
      routerId: record.router_id,
      agentId: record.agent_id,
      level: record.level === 'full' ? 'full' : 'read',
      opener: openerOf(record),
      size: { cols: record.cols, rows: record.rows },
      wasConnected: record.opened_at !== null,
      leftMs: Math.min(limits.longestMs, Math.max(0, record.created_at + limits.longestMs - clock.now())),
      recorder: this.#recorderOf(record, () => live.stored()),
      clock,
      limits,
      onResize: ({ cols, rows }) =>
        within(gateway.deliver(record.agent_id, { type: 'terminal.resize', terminal_id: record.id, cols, rows }), SIZE_WAIT_MS),
      onAway: () => this.#resumeIn(live, limits.retryMs),
      onFull: () => void this.end(live, RECORDING_FULL),
    });
    this.#live.set(live.id, live);
    if (hasShare) this.#holding.add(live.id);
    return live;
  }

  /** Asks the agent for the shell and a channel. @throws AppError as the gateway does */
  async connect(live: LiveTerminal, router: { agent_router: string; hardware_id: string }, { resume }: { resume: boolean }): Promise<void> {
    const { gateway, limits, clock, cluster } = this.#deps;
    const { from } = await gateway.request(
      live.agentId,
      'terminal.open',
      {
        router: router.agent_router,
        hardware_id: router.hardware_id,
        terminal_id: live.id,
        level: live.level,
        channel_token: live.newChannelToken(),
        ...(cluster ? { channel_url: cluster.channelUrl } : {}),
        ...live.size,
        resume,
        from: live.wanted,
        expires_in_ms: Math.max(0, Math.ceil(live.endsAt - clock.monotonic())),
        idle_ms: limits.idleMs,
        keep_ms: limits.keepMs,
      },
      { timeoutMs: limits.openTimeoutMs },
    );
    live.isOpening = false;
    live.expectOutput(from);
    // A dial that fails is not reported.
    if (live.needsChannel) this.#resumeIn(live, limits.channelWaitMs);
  }

  /** Ends it here and at the agent at once, then stores it. Never rejects: what could not be stored is tried again. */
  async end(live: LiveTerminal, why: Ending): Promise<void> {
    if (!live.end(why)) return;
    this.#giveBackShare(live);
    void this.#track(this.closeAtAgent(live));
    const ending = this.#track(this.#finish(live, why)).finally(() => this.#endings.delete(live.id));
    this.#endings.set(live.id, ending);
    await ending;
  }

  /** Settles once the end of a terminal that has ended here is stored; undefined for one that is open. */
  storedEnd(id: string): Promise<void> | undefined {
    return this.#endings.get(id);
  }

  /** Stores the end of a terminal. @param home the only control plane that may end it @throws a storage error */
  async storeEnd(key: TerminalKey, ending: Ending, home?: string): Promise<void> {
    const { storage, clock } = this.#deps;
    const ended = await storage.writes.write((tx) => markEnded(tx, key, clock.now(), ending, home));
    if (ended && ended.opened_at !== null) this.changes.publish({ kind: 'ended', terminal: ended });
  }

  /** Checks the bearer of a channel dial. */
  authorizeChannel(bearer: string): TerminalGrant | undefined {
    const live = this.#live.get(bearer.split(':', 1)[0]!);
    if (!live?.acceptsToken(bearer)) return undefined;
    return { terminalId: live.id, agentId: live.agentId, teamId: live.teamId };
  }

  /** Adds a channel. Call it in the same turn of the event loop in which the WebSocket is opened. */
  onChannel({ terminalId }: TerminalGrant, socket: ChannelSocket): void {
    const live = this.#live.get(terminalId);
    if (live) live.addChannel(socket);
    else socket.terminate();
  }

  /** The agent is online again: its shells go on. */
  onAgentReady(agentId: string): void {
    for (const live of this.#live.values()) {
      if (live.agentId !== agentId || live.isOpening) continue;
      // The old line may be dead: what is typed into it would wait until that is noticed.
      live.leaveChannel('the agent has a new tunnel');
      this.#resume(live);
    }
  }

  /** A shell has ended at its agent. What it printed last may still be on its way. */
  onShellEnded(agentId: string, id: string, ending: Ending): void {
    const live = this.#live.get(id);
    if (!live || live.agentId !== agentId || live.ended) return;
    const { clock, limits } = this.#deps;
    const end = (): void => {
      timer.cancel();
      void this.end(live, ending);
    };
    const timer = clock.setTimeout(end, limits.drainMs);
    live.whenComplete(end);
  }

  /** Ends the terminals of a team at an agent. */
  async endOfAgent(teamId: string, agentId: string, ending: Ending): Promise<void> {
    const lives = [...this.#live.values()].filter((live) => live.teamId === teamId && live.agentId === agentId);
    await Promise.all(lives.map((live) => this.end(live, ending)));
  }

  /** Ends the terminals of a team whose openers have lost the right to them. */
  async recheck(teamId: string): Promise<void> {
    await this.#recheck([...this.#live.values()].filter((live) => live.teamId === teamId));
  }

  /** Whether the opener still has the role that the level needs. @throws a storage error */
  async isAllowed({ opener, level }: Pick<LiveTerminal, 'opener' | 'level'>): Promise<boolean> {
    const role = await selectRoleOf(this.#deps.storage.db, opener, this.#deps.clock.now());
    return role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(ROLE_OF_LEVEL[level]);
  }

  audit(live: LiveTerminal, entry: { action: string; result: number; source: string; detail: string | null }): void {
    const { opener, ended, teamId, routerId, id } = live;
    const actor = ended?.by ?? opener;
    this.#deps.audit.record({
      team_id: teamId,
      actor_kind: actor.kind,
      actor_id: actor.id,
      target: `/api/terminals/${id}`,
      router_id: routerId,
      ...entry,
    });
  }

  #recorderOf(record: TerminalRecord, onStored: () => void): Recorder {
    const { clock, limits, log, recordings } = this.#deps;
    return new Recorder({
      clock,
      startedAt: record.created_at,
      title: `terminal ${record.id} on router ${record.router_id}`,
      size: { cols: record.cols, rows: record.rows },
      stored: {
        chunks: record.recording_chunks,
        chars: record.recording_chars,
        outputBytes: record.output_bytes,
        inputBytes: record.input_bytes,
      },
      flushMs: limits.flushMs,
      store: (part) => recordings.store(keyOf(record), part),
      onFailure: (error) => log.warn({ err: error, team_id: record.team_id }, 'a recording could not be stored; trying again'),
      onStored,
    });
  }

  #resumeIn(live: LiveTerminal, ms: number): void {
    if (!this.#isStopping) live.retryIn(ms, () => this.#resume(live));
  }

  /** Without a tunnel, the next attempt comes when the agent is back. */
  #resume(live: LiveTerminal): void {
    if (live.ended || !live.needsChannel || this.#isStopping || !this.#isReachable(live.agentId)) return;
    void this.#track(this.#tryResume(live));
  }

  async #tryResume(live: LiveTerminal): Promise<void> {
    try {
      if (this.#isHome && !(await this.#isHome(live))) return;
      await this.connect(live, await this.#deps.routers.getRouter(live.teamId, live.routerId), { resume: true });
    } catch (error) {
      if (live.ended) return;
      const reason = error instanceof AppError ? error.extra?.['reason'] : undefined;
      if (reason === 'terminal_gone') await this.end(live, SHELL_GONE);
      else if (!(error instanceof AppError && error.code === 'agent_offline')) this.#resumeIn(live, this.#deps.limits.retryMs);
    }
  }

  async #finish(live: LiveTerminal, ending: Ending): Promise<void> {
    const { log, limits } = this.#deps;
    await live.recorder.close();
    try {
      // What somebody wants holds wherever it lives now; what only this control plane has seen holds while it is the home.
      const home = ending.by === undefined ? this.#deps.cluster?.nodeId : undefined;
      await this.storeEnd({ teamId: live.teamId, id: live.id }, ending, home);
      this.#live.delete(live.id);
      const detail = `${ending.reason}: ${ending.message}`;
      // One that was never opened stands in the log with its request.
      const { source } = ending.by ?? live.opener;
      if (ending.reason !== 'not_opened') this.audit(live, { action: 'terminal ended', result: 200, source, detail });
    } catch (error) {
      log.warn({ err: error, team_id: live.teamId }, 'the end of a terminal could not be stored; trying again');
      // The terminal owns the wait: `stop` leaves it.
      if (!this.#isStopping) live.retryIn(limits.retryMs, () => void this.#track(this.#finish(live, ending)));
    }
  }

  /** Never rejects: an agent that is away ends the shell by itself. */
  async closeAtAgent({ agentId, id }: Pick<LiveTerminal, 'agentId' | 'id'>): Promise<void> {
    const { gateway, limits, log } = this.#deps;
    if (!this.#isReachable(agentId)) return;
    try {
      await gateway.request(agentId, 'terminal.close', { terminal_id: id }, { timeoutMs: limits.openTimeoutMs });
    } catch (error) {
      log.info({ err: error, agent_id: agentId }, 'the agent could not be told that a terminal has ended');
    }
  }

  async #tick(): Promise<void> {
    for (const live of this.#live.values()) {
      const ending = live.ended ? undefined : live.timeOver();
      if (ending) void this.end(live, ending);
    }
    const now = this.#deps.clock.monotonic();
    if (now - this.#recheckedAt < this.#deps.limits.recheckMs) return;
    this.#recheckedAt = now;
    await this.#recheck([...this.#live.values()]);
  }

  async #recheck(lives: readonly LiveTerminal[]): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const live of lives) {
      // While the database is unavailable nothing is cut; the next check decides.
      const allowed = live.ended !== undefined || (await this.isAllowed(live).catch(() => true));
      ends.push(allowed ? (this.storedEnd(live.id) ?? Promise.resolve()) : this.end(live, RIGHTS_LOST));
    }
    await Promise.all(ends);
  }

  /** Whether its agent has a tunnel, of several control planes at any of them. */
  #isReachable(agentId: string): boolean {
    const { gateway, cluster } = this.#deps;
    return cluster ? gateway.isConnected(agentId) : gateway.epoch(agentId) !== undefined;
  }

  #forget(live: LiveTerminal): void {
    this.#live.delete(live.id);
    this.#giveBackShare(live);
  }

  #giveBackShare({ id, teamId: party, routerId: member }: LiveTerminal): void {
    if (this.#holding.delete(id)) this.shares.giveBack({ party, member });
  }

  /** Tracks work that `stop` waits for. Never rejects. */
  #track(work: Promise<void>): Promise<void> {
    const task = work
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'a task of the terminals failed'))
      .finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
    return task;
  }
}
