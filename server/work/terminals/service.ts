import type { ChannelSocket } from '../../../protocol/index.ts';
import type { FairShares } from '../../../runtime/fair-shares.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { Principal } from '../../platform/core/principal.ts';
import type { Tx } from '../../platform/storage/db.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';
import { SharedTerminals } from './cluster/shared-terminals.ts';
import { MOST_RECORDED_CHARS, TERMINAL_LIMITS } from './limits.ts';
import type { TerminalLimits } from './limits.ts';
import type { TerminalFilter } from './list/types.ts';
import { hasEnded, holderOf, isWrongTicket, openerOf, RIGHTS_LOST } from './live/facts.ts';
import type { LiveTerminal } from './live/live-terminal.ts';
import { LiveTerminals } from './live/live-terminals.ts';
import type { LiveTerminalsDeps } from './live/live-terminals.ts';
import { Recordings } from './recording/recordings.ts';
import { sumRecordings } from './recording/store.ts';
import {
  endAllOf,
  findTerminals,
  insertTerminal,
  isRouterThere,
  isUnique,
  lockTeam,
  markOpened,
  selectEndedOf,
  selectOpenOf,
  selectTerminal,
} from './store.ts';
import type { LostRight } from './store.ts';
import type { Ending, NewTerminal, Opener, TerminalChange, TerminalGrant, TerminalRecord, TerminalView, Ticket } from './types.ts';

export interface TerminalsDeps extends Omit<LiveTerminalsDeps, 'recordings' | 'limits'> {
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  /** How long recordings are kept after the end of their terminals, milliseconds. */
  keepRecordingsMs: number;
  counters?: Pick<Counters, 'add'>;
  limits?: TerminalLimits;
}

/** HTTP status of an upgrade, in the audit log. */
const ATTACHED = 101;

const ROUTER_REMOVED: Ending = { reason: 'router_removed', message: 'the router was removed or replaced' };

/** Terminals: shells of routers that people attach to. */
export class TerminalsService {
  readonly recordings: Recordings;
  readonly #deps: TerminalsDeps & { limits: TerminalLimits };
  readonly #live: LiveTerminals;
  /** Of several control planes. */
  readonly #shared: SharedTerminals | undefined;

  constructor(deps: TerminalsDeps) {
    this.#deps = { ...deps, limits: deps.limits ?? TERMINAL_LIMITS };
    this.recordings = new Recordings(deps);
    this.#live = new LiveTerminals({ ...this.#deps, recordings: this.recordings });
    const { cluster } = this.#deps;
    if (!cluster) return;
    const shared = new SharedTerminals({ ...this.#deps, cluster, live: this.#live });
    this.#live.checkHome((live) => shared.isHomeOf(live));
    this.#shared = shared;
  }

  /** Terminals that this process has opened or ended. */
  get changes(): Listeners<TerminalChange> {
    return this.#live.changes;
  }

  /** Open terminals by team and router. */
  get shares(): FairShares {
    return this.#live.shares;
  }

  /** Carries on with terminals that were open when the server stopped, as soon as their agents are back. */
  async start(): Promise<void> {
    await this.#live.start();
    await this.#shared?.start();
  }

  /** Leaves the shells at their agents, which keep them for five minutes. */
  async stop(): Promise<void> {
    await this.#shared?.stop();
    await this.#live.stop();
  }

  /** Clients that are attached here now. */
  get attachedClients(): number {
    return this.#live.all().filter(({ isAttached }) => isAttached).length;
  }

  /** Open terminals of each team. */
  openByTeam(): Map<string, number> {
    return this.#live.byTeam();
  }

  /**
   * Opens a shell on a router and waits until it is open.
   * @throws AppError `not_found`, `forbidden` (`reason` says why), `conflict` when the caller has one on this router or there are too
   *   many, `agent_offline`, and what the agent or the router refuses with (`reason`: `terminal_off`, `login_refused`, …)
   */
  async open(opener: Opener, routerId: string, wanted: NewTerminal): Promise<TerminalView & Ticket> {
    this.#checkSignIn(opener);
    const router = await this.#deps.routers.getRouter(opener.teamId, routerId);
    const holder = holderOf({ team_id: opener.teamId, router_id: routerId });
    if (!this.shares.take(holder)) throw new AppError('conflict', 'the team or this router has as many terminals open as it may');
    let live: LiveTerminal | undefined;
    try {
      const record = await this.#store(opener, { routerId, agentId: router.agent_id }, wanted);
      live = this.#live.add(record, { hasShare: true });
      await this.#live.connect(live, router, { resume: false });
      const key = { teamId: opener.teamId, id: record.id };
      const opened = await this.#deps.storage.writes.write((tx) => markOpened(tx, key, this.#deps.clock.now()));
      if (!opened || live.ended) throw new AppError('conflict', 'the terminal was ended while it was being opened');
      this.changes.publish({ kind: 'opened', terminal: opened });
      return { ...this.#viewOf(opened), ...live.newTicket() };
    } catch (error) {
      if (live) await this.#live.end(live, { reason: 'not_opened', message: error instanceof AppError ? error.message : 'internal error' });
      else this.shares.giveBack(holder);
      throw error;
    }
  }

  /**
   * A new ticket for a terminal of the caller, who must have signed in recently or have opened it after the same sign-in.
   * @throws AppError `not_found`, `forbidden`, `conflict` when it has ended
   */
  async newTicket(caller: Opener, id: string): Promise<TerminalView & Ticket> {
    const view = await this.get(caller.teamId, id);
    const live = this.#live.get(id);
    if (view.record.opened_by !== caller.id) throw new AppError('forbidden', 'only its opener attaches to a terminal');
    if (caller.signedInAt !== (view.record.signed_in_at ?? undefined)) this.#checkSignIn(caller);
    if (live && !live.ended) return { ...view, ...live.newTicket() };
    const ticket = live || view.record.ended_at !== null ? undefined : await this.#shared?.newTicket(view.record);
    if (!ticket) throw hasEnded();
    return { ...view, ...ticket };
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, id: string): Promise<TerminalView> {
    const record = await selectTerminal(this.#deps.storage.db, { teamId, id });
    if (!record) throw notFound('terminal');
    const [view] = await this.#views([record]);
    return view!;
  }

  async list(teamId: string, filter: TerminalFilter, page: ListPage, wantsTotal: boolean): Promise<Found<TerminalView>> {
    const { rows, total } = await findTerminals(this.#deps.storage.db, teamId, filter, page, wantsTotal);
    return { rows: await this.#views(rows), total };
  }

  /**
   * Ends a terminal at once. Without effect when it has ended.
   * @throws AppError `not_found`, `forbidden` unless the caller has opened it or is an administrator
   */
  async close(caller: Opener & Pick<Principal, 'role'>, id: string): Promise<void> {
    const { record } = await this.get(caller.teamId, id);
    const isOwn = record.opened_by === caller.id;
    if (!isOwn && caller.role !== 'admin') throw new AppError('forbidden', 'only its opener and administrators end a terminal');
    const live = this.#live.get(id);
    const ending: Ending = { reason: 'closed', message: isOwn ? 'its opener ended it' : 'an administrator ended it', by: caller };
    if (live) await this.#live.end(live, ending);
    else if (this.#shared && record.ended_at === null) await this.#shared.end(record, ending);
    else await this.#live.storeEnd({ teamId: caller.teamId, id }, ending);
  }

  /**
   * The terminal behind a ticket, which is used up.
   * @throws AppError `unauthenticated` for a ticket that is wrong, used or too old; `conflict` when the terminal has ended
   */
  async redeem(routerId: string, id: string, ticket: string): Promise<LiveTerminal> {
    if (!this.#shared || this.#live.get(id)) return this.#live.redeem(routerId, id, ticket);
    const live = await this.#shared.takeOver(routerId, id, ticket);
    if (!live) throw isWrongTicket();
    if (live.ended) throw hasEnded();
    return live;
  }

  /** Attaches a client whose ticket was redeemed. Call it in the same turn of the event loop in which its WebSocket opened. */
  attach(live: LiveTerminal, ws: ChannelSocket, source: string): void {
    live.attach(ws);
    this.#live.audit(live, { action: 'terminal attached', result: ATTACHED, source, detail: null });
  }

  /** Checks the bearer of a channel dial. */
  authorizeChannel(bearer: string): TerminalGrant | undefined {
    return this.#live.authorizeChannel(bearer);
  }

  /** Adds a channel. Call it in the same turn of the event loop in which the WebSocket is opened. */
  onChannel(grant: TerminalGrant, socket: ChannelSocket): void {
    this.#live.onChannel(grant, socket);
  }

  /** The agent is online again: its shells go on. */
  onReady({ agentId }: AgentConnection): void {
    this.#shared?.agentReady(agentId);
    this.#live.onAgentReady(agentId);
  }

  /** A shell has ended at its agent. */
  onShellEnded({ agentId }: AgentConnection, id: string, ending: Ending): void {
    if (this.#shared && !this.#live.get(id)) void this.#shared.shellEnded(agentId, id, ending);
    else this.#live.onShellEnded(agentId, id, ending);
  }

  /** The agent is revoked or replaced: its terminals end. */
  async dropAgent(teamId: string, agentId: string, message = 'the agent was revoked'): Promise<void> {
    const ending: Ending = { reason: 'agent_revoked', message };
    await this.#live.endOfAgent(teamId, agentId, ending);
    await this.#endElsewhere({ teamId, agentId }, async () => ending);
  }

  /** Ends the terminals of a team whose openers have lost the right to them. Settles when their ends are stored, or could not be now. */
  async recheck(teamId: string): Promise<void> {
    await this.#live.recheck(teamId);
    await this.#endElsewhere({ teamId }, async (record) => {
      const isAllowed = await this.#live.isAllowed({ opener: openerOf(record), level: record.level === 'full' ? 'full' : 'read' });
      return isAllowed ? undefined : RIGHTS_LOST;
    });
  }

  /** Ids of the terminals whose stored end is that their opener or agent lost this right. */
  async endedOf(right: LostRight): Promise<string[]> {
    return (await selectEndedOf(this.#deps.storage.db, right, this.#deps.limits.longestMs)).map(({ id }) => id);
  }

  /** Stores the end of all terminals of these routers inside a write; then {@link cut} them. */
  endAllOf(tx: Tx, teamId: string, routerIds: readonly string[]): Promise<TerminalRecord[]> {
    return endAllOf(tx, { teamId, routerIds }, this.#deps.clock.now(), ROUTER_REMOVED);
  }

  /** Cuts terminals whose end is stored. Never rejects. */
  async cut(terminals: readonly TerminalRecord[]): Promise<void> {
    for (const terminal of terminals) {
      this.changes.publish({ kind: 'ended', terminal });
      const live = this.#live.get(terminal.id);
      if (live) await this.#live.end(live, ROUTER_REMOVED);
      else await this.#shared?.ended(terminal);
    }
  }

  /** @throws AppError `conflict` when the caller has a terminal open on this router */
  async #store(opener: Opener, where: { routerId: string; agentId: string }, wanted: NewTerminal): Promise<TerminalRecord> {
    try {
      return await this.#insert(opener, where, wanted);
    } catch (error) {
      if (!isUnique(error)) throw error;
      const open = await selectOpenOf(this.#deps.storage.db, { teamId: opener.teamId, routerId: where.routerId, openedBy: opener.id });
      const ending = open && this.#live.storedEnd(open.id);
      if (ending) {
        await ending;
        return this.#insert(opener, where, wanted);
      }
      const extra = { terminal_id: open?.id };
      throw new AppError('conflict', 'you have a terminal open on this router: attach to it, or end it', { extra });
    }
  }

  /** @throws a unique violation when the caller has a terminal open on this router */
  async #insert(
    opener: Opener,
    { routerId, agentId }: { routerId: string; agentId: string },
    wanted: NewTerminal,
  ): Promise<TerminalRecord> {
    const { storage, clock } = this.#deps;
    const { teamId } = opener;
    const now = clock.now();
    return storage.writes.write(async (tx) => {
      // A removal holds the team, too.
      await lockTeam(tx, teamId);
      if (!(await isRouterThere(tx, { teamId, routerId }))) throw notFound('router');
      if ((await sumRecordings(tx, teamId)) >= MOST_RECORDED_CHARS) throw this.#tooManyRecordings();
      return insertTerminal(tx, {
        id: newId(now),
        team_id: teamId,
        router_id: routerId,
        agent_id: agentId,
        ...wanted,
        node_id: this.#deps.cluster?.nodeId ?? null,
        opened_by: opener.id,
        opened_by_kind: opener.kind,
        opened_via: opener.clientId ?? null,
        signed_in_at: opener.signedInAt ?? null,
        source: opener.source,
        created_at: now,
      });
    });
  }

  #tooManyRecordings(): AppError {
    this.#deps.counters?.add('terminal_recordings_per_team');
    return new AppError('quota_exceeded', 'the recordings of the team have 20 GB, which is the limit: wait until old ones are deleted');
  }

  /** An API key has no sign-in; its role decides alone. */
  #checkSignIn({ kind, signedInAt }: Opener): void {
    const { clock, limits } = this.#deps;
    if (kind === 'api_key' || clock.now() - (signedInAt ?? 0) <= limits.freshSignInMs) return;
    throw new AppError('forbidden', 'sign in again: a terminal needs a sign-in of the last 15 minutes', {
      extra: { reason: 'sign_in_too_old' },
    });
  }

  /** Never rejects: the home of a terminal looks for its end itself. */
  async #endElsewhere(...which: Parameters<SharedTerminals['endWhere']>): Promise<void> {
    await this.#shared?.endWhere(...which).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'terminals of other control planes could not be ended');
    });
  }

  async #views(records: readonly TerminalRecord[]): Promise<TerminalView[]> {
    const states = await this.#shared?.states(records);
    return records.map((record) => ({ ...this.#viewOf(record), ...states?.get(record.id) }));
  }

  #viewOf(record: TerminalRecord): TerminalView {
    const live = this.#live.get(record.id);
    return { record, attached: live?.isAttached ?? false, away: record.ended_at === null && (live?.isAway ?? true) };
  }
}
