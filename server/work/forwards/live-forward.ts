import type net from 'node:net';
import { MemberList } from '../../../runtime/member-list.ts';
import type { ChannelSocket } from '../../../protocol/index.ts';
import type { Clock, Timer } from '../../platform/core/clock.ts';
import { newId, secretMatches } from '../../platform/core/ids.ts';
import { ChannelPool } from './channel-pool.ts';
import { ClientConnection } from './connections/client-connection.ts';
import type { LoggedConnection } from './connections/store.ts';
import type { EntryPort, Source } from './entry/entry-port.ts';
import type { ForwardLimits } from './limits.ts';
import type { ForwardKey } from './store.ts';
import { LentPlaces } from './lent-places.ts';
import { sourceMatcher } from './policy.ts';
import type { ClientStream, ConnectionSummary, EndedBy, ConnectionAcceptor } from './types.ts';

export interface LiveForwardOptions {
  id: string;
  teamId: string;
  /** Its home, of several control planes. */
  nodeId?: string | undefined;
  routerId: string;
  terms: LiveTerms;
  /** Connections at the same time. */
  maxConnections: number;
  /** SHA-256 of the token that channels must present; without it no channel is accepted. */
  tokenHash?: string;
  /** A connection that is idle for this long is ended; null for never. */
  idleMs: number | null;
  clock: Clock;
  limits: ForwardLimits;
  dial: (count: number) => boolean;
  /** @param former the agent until now; empty when there was none */
  onAgentChanged: (former: string) => void;
  onConnectionClosed: (summary: ConnectionSummary) => void;
  onRefused: (source: string) => void;
  onExpired: () => void;
}

/** Until when a forward is open, and for whom. */
export interface LiveTerms {
  expiresAt: number;
  /** When that end was set. */
  setAt: number;
  allowOnlyCidr: string;
}

/**
 * A timer does not count while the machine sleeps, and the clock can be set. The forward expires as soon as either says so;
 * the clock is checked this often.
 */
const CHECK_CLOCK_MS = 30_000;

interface Arrival {
  source: string;
  address?: string;
  ended?: (endedBy: EndedBy) => void;
}

/** No token has this hash. */
const NO_TOKEN = '0'.repeat(64);

/** Places that must be free before any is kept. */
const ROOM = 8;

/** One open forward on this node: its entry port, its channels and the connections between them. */
export class LiveForward implements ConnectionAcceptor {
  readonly id: string;
  readonly teamId: string;
  /** For what is stored by right of being its home. */
  readonly key: ForwardKey;
  readonly routerId: string;
  readonly #options: LiveForwardOptions;
  #terms: LiveTerms;
  #allows: (address: string) => boolean;
  #changing: Promise<unknown> = Promise.resolve();
  readonly #connections = new MemberList<ClientConnection>();
  /** Connections that were admitted by their address. */
  readonly #admitted = new Map<ClientConnection, string>();
  readonly #pool: ChannelPool;
  /** The agent of the router; empty while there is none. */
  #agentId = '';
  /** SHA-256 of the token that channels must present. */
  #tokenHash: string;
  /** The epoch of the tunnel on which the agent was last asked to open the way. */
  #requestEpoch: number | undefined;
  /** When that was, by the monotonic clock. */
  #requestedAt = Number.NEGATIVE_INFINITY;
  /** The agent has lost the way since the last request. */
  #isLost = false;
  /** The agent has opened the way, and has not lost it. */
  #hasWay = false;
  /** What other control planes have of it. */
  readonly #lent = new LentPlaces();
  /** The next attempt to open the way, or to store the end. */
  #retryTimer: Timer | undefined;
  /** The next attempt to open the port. */
  #listenTimer: Timer | undefined;
  #portProblem: string | undefined;
  #entry: EntryPort | undefined;
  #expiry: Timer | undefined;
  #idleCheck: Timer | undefined;
  /** Why the forward ended, once it has. */
  #ended: EndedBy | undefined;
  readonly #drained = Promise.withResolvers<void>();

  constructor(options: LiveForwardOptions) {
    this.#options = options;
    this.id = options.id;
    this.teamId = options.teamId;
    this.key = { teamId: options.teamId, id: options.id, nodeId: options.nodeId };
    this.routerId = options.routerId;
    this.#terms = options.terms;
    this.#allows = sourceMatcher(options.terms.allowOnlyCidr);
    this.#tokenHash = options.tokenHash ?? NO_TOKEN;
    this.#pool = new ChannelPool({ clock: options.clock, limits: options.limits, dial: options.dial });
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Bytes of the connections that are open. */
  get openBytes(): { in: number; out: number } {
    const sum = { in: 0, out: 0 };
    for (const connection of this.#connections.members()) {
      sum.in += connection.bytesIn;
      sum.out += connection.bytesOut;
    }
    return sum;
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  get full(): boolean {
    return this.#connections.size + this.#lent.places >= this.#options.maxConnections;
  }

  /** Connections that other control planes carry, or this one at a door that it has from before it became the home. */
  get lentCount(): number {
    return this.#lent.open;
  }

  /** Ids of control planes that carry some. */
  get lentTo(): string[] {
    return this.#lent.holders;
  }

  /** How many places another control plane may keep for a moment when their clients have gone. Whoever comes elsewhere misses few. */
  get spare(): number {
    const { maxConnections } = this.#options;
    const free = maxConnections - this.#connections.size - this.#lent.places;
    return free * 2 >= maxConnections && free >= ROOM ? Math.floor(free / 4) : 0;
  }

  /** Another control plane wants to carry one more connection. @param open how many it then has @returns false when there are too many */
  lend(nodeId: string, open: number): boolean {
    const others = this.#connections.size + this.#lent.places - this.#lent.placesOf(nodeId);
    const fits = others + open <= this.#options.maxConnections;
    this.setLent(nodeId, fits ? open : open - 1);
    return fits;
  }

  /** How many connections another control plane carries, and how many it may carry without asking. */
  setLent(nodeId: string, open: number, kept = 0): void {
    this.#lent.set(nodeId, open, kept);
  }

  /** Takes ownership of its port and closes it at the end. */
  attachPort(entry: EntryPort): void {
    // The forward may have ended while the port was being opened.
    if (this.#ended) entry.close();
    else this.#entry = entry;
  }

  /** Time left by the clock, in milliseconds; never more than was left when the end was set, even if the clock was set. */
  get timeLeft(): number {
    const { expiresAt, setAt } = this.#terms;
    return Math.max(0, Math.min(expiresAt - this.#options.clock.now(), expiresAt - setAt));
  }

  get terms(): LiveTerms {
    return this.#terms;
  }

  hasTerms({ expiresAt, setAt, allowOnlyCidr }: LiveTerms): boolean {
    const { terms } = this;
    return terms.expiresAt === expiresAt && terms.setAt === setAt && terms.allowOnlyCidr === allowOnlyCidr;
  }

  /** Runs changes of the terms one after the other, so that the one stored last is in effect. */
  changeInTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#changing.then(change);
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  /** The stored terms hold from now on: connections from a source that is no longer allowed end at once. */
  applyTerms(terms: LiveTerms): void {
    this.#terms = terms;
    this.#allows = sourceMatcher(terms.allowOnlyCidr);
    if (this.#ended) return;
    this.#expiry?.cancel();
    this.#watchTime(this.timeLeft);
    for (const [client, address] of this.#admitted) if (!this.#allows(address)) client.cut('source');
  }

  /** Starts the timers that expire the forward and end idle connections. */
  startExpiry(): void {
    this.#watchTime(this.timeLeft);
    this.#scheduleIdleCheck();
  }

  #watchTime(left: number): void {
    const wait = Math.min(left, CHECK_CLOCK_MS);
    this.#expiry = this.#options.clock.setTimeout(() => {
      const still = Math.min(left - wait, this.timeLeft);
      if (still > 0) this.#watchTime(still);
      else this.#options.onExpired();
    }, wait);
  }

  /**
   * Accepts a client if its source is allowed, otherwise counts a refusal.
   * @returns false when it was refused: the caller closes the socket in the way of its entry
   */
  acceptFrom(socket: net.Socket, { address, port }: Source): boolean {
    const isAllowed = this.#allows(address);
    if (isAllowed) this.#carry(socket, { source: `${address.startsWith('::ffff:') ? address.slice(7) : address}:${port}`, address });
    else this.refused(address);
    return isAllowed;
  }

  /** Counts an attempt that was refused. */
  refused(address: string): void {
    this.#options.onRefused(address);
  }

  /** The agent of the router; empty while there is none. */
  get agentId(): string {
    return this.#agentId;
  }

  /** The router belongs to this agent now. Isolate an earlier agent first: {@link isolateAgent}. */
  assignAgent(agentId: string): void {
    const former = this.#agentId;
    if (former === agentId) return;
    this.#agentId = agentId;
    this.#options.onAgentChanged(former);
  }

  /** Cuts the agent's channels and refuses the token that it was given. */
  isolateAgent(newTokenHash: string): void {
    this.#tokenHash = newTokenHash;
    this.#requestEpoch = undefined;
    this.#pool.drop('this agent is no longer responsible');
  }

  /** Detaches the forward from its agent. No agent is asked until the router is seen again. */
  detachAgent(): void {
    this.assignAgent('');
    this.cancelRetry();
  }

  /** Sets the epoch of the tunnel on which the agent is asked; undefined when it has none. */
  setTunnelEpoch(epoch: number | undefined): void {
    this.#requestEpoch = epoch;
  }

  /** The agent is asked to open the way with a new token; it will dial `warmChannels` channels by itself. */
  expectChannels(tokenHash: string, warmChannels: number): void {
    this.#tokenHash = tokenHash;
    this.#requestedAt = this.#options.clock.monotonic();
    this.#isLost = false;
    this.#hasWay = false;
    this.#pool.expect(warmChannels);
  }

  /** Whether the agent was asked on this tunnel. */
  wasRequestedOn({ agentId, epoch }: { agentId: string; epoch: number }): boolean {
    return this.#agentId === agentId && this.#requestEpoch === epoch;
  }

  /** Milliseconds since the last request to the agent, by the monotonic clock; infinite when there was none. */
  get sinceRequestMs(): number {
    return this.#options.clock.monotonic() - this.#requestedAt;
  }

  get hasWay(): boolean {
    return this.#hasWay;
  }

  /** The agent has opened the way. */
  foundWay(): void {
    this.#hasWay = !this.#isLost;
  }

  /** The agent reports that it has lost the way. @returns true for the first report after each request to the agent */
  markLost(agentId: string): boolean {
    if (this.ended || this.#agentId !== agentId || this.#isLost) return false;
    this.#isLost = true;
    this.#hasWay = false;
    return true;
  }

  /** Whether the bearer of a channel dial is the present token. */
  acceptsToken(bearer: string): boolean {
    return secretMatches(bearer, this.#tokenHash);
  }

  addChannel(socket: ChannelSocket): void {
    this.#pool.add(socket);
  }

  /** Cuts channels that carry no connection, because they may be dead. */
  dropFreeChannels(why: string): void {
    this.#pool.dropFree(why);
  }

  /** Schedules a retry and replaces an earlier one: two attempts that failed together are repeated once. */
  retryIn(ms: number, work: () => void): void {
    this.cancelRetry();
    this.#retryTimer = this.#options.clock.setTimeout(work, ms);
  }

  cancelRetry(): void {
    this.#retryTimer?.cancel();
  }

  /** Schedules another attempt to open the port; the end cancels it. */
  retryListeningIn(ms: number, work: () => void): void {
    this.#listenTimer = this.#options.clock.setTimeout(work, ms);
  }

  /** Why the port is not open; undefined while it is open. */
  get portProblem(): string | undefined {
    return this.#portProblem;
  }

  /** @param reason why the port is not open; undefined when it is open. @returns whether this is a change */
  setPortProblem(reason: string | undefined): boolean {
    const hasChanged = this.#portProblem !== reason;
    this.#portProblem = reason;
    return hasChanged;
  }

  /** Closes the port and cuts every connection at once. Resolves when the last of them has been reported. */
  end(why: EndedBy): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = why;
      this.#expiry?.cancel();
      this.#idleCheck?.cancel();
      this.#retryTimer?.cancel();
      this.#listenTimer?.cancel();
      this.#entry?.close();
      for (const connection of this.#connections.members()) connection.cut(why);
      this.#pool.close(why);
      if (this.#connections.size === 0) this.#drained.resolve();
    }
    return this.#drained.promise;
  }

  /** Accepts a client whose credential the caller has checked, and carries its connection. */
  accept(socket: ClientStream, source: string, ended: (endedBy: EndedBy) => void): (why: EndedBy) => void {
    return this.#carry(socket, { source, ended });
  }

  /** @param address of a client that was admitted by its source */
  #carry(socket: ClientStream, { source, address, ended }: Arrival): (why: EndedBy) => void {
    const openedAt = this.#options.clock.now();
    if (openedAt >= this.#terms.expiresAt && !this.#ended) this.#options.onExpired();
    if (this.#ended || this.full) {
      if (!this.#ended) this.refused(source);
      socket.on('error', () => undefined);
      socket.once('close', () => ended?.(this.#ended ?? 'no_channel'));
      socket.resetAndDestroy();
      return () => undefined;
    }
    const client = new ClientConnection(socket, { id: newId(openedAt), source, openedAt }, this.#options.clock.monotonic());
    const remove = this.#connections.add(client);
    if (address !== undefined) this.#admitted.set(client, address);
    client.start(this.#pool, (endedBy) => {
      remove();
      this.#admitted.delete(client);
      this.#options.onConnectionClosed(client.summary(this.#options.clock.now(), endedBy));
      ended?.(endedBy);
      if (this.#ended && this.#connections.size === 0) this.#drained.resolve();
    });
    return (why) => client.cut(why);
  }

  /** The open connections as the log stores them. */
  openConnections(): LoggedConnection[] {
    const now = this.#options.clock.now();
    return this.#connections.members().map((client) => ({ ...client.summary(now, 'open'), teamId: this.teamId, forwardId: this.id }));
  }

  /** Polls the byte counters instead of timing every byte; up to a quarter of the limit too late. */
  #scheduleIdleCheck(): void {
    const { clock, idleMs } = this.#options;
    if (idleMs === null || this.#ended) return;
    this.#idleCheck = clock.setTimeout(() => {
      // Monotonic: a clock that is set ahead must not cut every connection.
      const now = clock.monotonic();
      for (const connection of this.#connections.members()) if (now - connection.idleSince(now) >= idleMs) connection.cut('idle');
      this.#scheduleIdleCheck();
    }, idleMs / 4);
  }
}
