import type net from 'node:net';
import { MemberList } from '../../../runtime/member-list.ts';
import type { ChannelSocket } from '../../../protocol/index.ts';
import type { Clock, Timer } from '../../platform/core/clock.ts';
import { newId, secretMatches } from '../../platform/core/ids.ts';
import { ChannelPool } from './channel-pool.ts';
import { ClientConnection } from './connections/client-connection.ts';
import type { LoggedConnection } from './connections/store.ts';
import { breakOff } from './entry/entry-port.ts';
import type { EntryPort, Source } from './entry/entry-port.ts';
import type { ForwardLimits } from './limits.ts';
import { sourceMatcher } from './policy.ts';
import type { ClientStream, ConnectionSummary, EndedBy, Entrance } from './types.ts';

export interface LiveForwardOptions {
  id: string;
  teamId: string;
  routerId: string;
  allowOnlyCidr: string;
  createdAt: number;
  expiresAt: number;
  /** Connections at the same time. */
  maxConnections: number;
  /** SHA-256 of the token that channels must show; until there is one, no channel is let in. */
  tokenHash?: string;
  /** A connection through which nothing goes for so long is ended; null for never. */
  idleMs: number | null;
  clock: Clock;
  limits: ForwardLimits;
  dial: (count: number) => boolean;
  onConnectionClosed: (summary: ConnectionSummary) => void;
  onRefused: (source: string) => void;
  onExpired: () => void;
}

/**
 * A timer counts the time in which the machine runs, a clock may be set and goes on while the machine sleeps. The forward is
 * over when either says so, and the clock is asked this often.
 */
const LOOK_AT_CLOCK_MS = 30_000;

/** No token has this hash. */
const NO_TOKEN = '0'.repeat(64);

/** One open forward on this node: its entry port, its channels and the connections between them. */
export class LiveForward implements Entrance {
  readonly id: string;
  readonly teamId: string;
  readonly routerId: string;
  readonly expiresAt: number;
  readonly #options: LiveForwardOptions;
  readonly #allows: (address: string) => boolean;
  readonly #connections = new MemberList<ClientConnection>();
  readonly #pool: ChannelPool;
  /** The agent behind which the router stands; empty while there is none. */
  #agentId = '';
  /** SHA-256 of the token that channels must show. */
  #tokenHash: string;
  /** The epoch of the tunnel on which the agent was last asked to open the way. */
  #askedInEpoch: number | undefined;
  /** When that was, by the clock that nobody sets. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The agent has lost the way since it was last asked. */
  #isLost = false;
  /** The next attempt to open the way, or to store the end. */
  #retryTimer: Timer | undefined;
  /** The next attempt to open the port. */
  #listenTimer: Timer | undefined;
  #portProblem: string | undefined;
  #entry: EntryPort | undefined;
  #expiry: Timer | undefined;
  #idleCheck: Timer | undefined;
  /** Why it is over, once it is. */
  #ended: EndedBy | undefined;
  readonly #drained = Promise.withResolvers<void>();

  constructor(options: LiveForwardOptions) {
    this.#options = options;
    this.id = options.id;
    this.teamId = options.teamId;
    this.routerId = options.routerId;
    this.expiresAt = options.expiresAt;
    this.#allows = sourceMatcher(options.allowOnlyCidr);
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
    return this.#connections.size >= this.#options.maxConnections;
  }

  /** Takes over its port, and closes it at the end. */
  ownPort(entry: EntryPort): void {
    // It may have been revoked, or its time may have passed, while the port was being opened.
    if (this.#ended) entry.close();
    else this.#entry = entry;
  }

  /** By the clock, in milliseconds; never more than it was given in the first place, whatever the clock said then. */
  get timeLeft(): number {
    const { clock, createdAt } = this.#options;
    return Math.max(0, Math.min(this.expiresAt - clock.now(), this.expiresAt - createdAt));
  }

  /** From here on it ends by itself. */
  startExpiry(): void {
    this.#watchTime(this.timeLeft);
    this.#scheduleIdleCheck();
  }

  #watchTime(left: number): void {
    const wait = Math.min(left, LOOK_AT_CLOCK_MS);
    this.#expiry = this.#options.clock.setTimeout(() => {
      const still = Math.min(left - wait, this.timeLeft);
      if (still > 0) this.#watchTime(still);
      else this.#options.onExpired();
    }, wait);
  }

  /** Whether a client from there may come in; a no is counted. */
  admits(address: string): boolean {
    const allowed = this.#allows(address);
    if (!allowed) this.refused(address);
    return allowed;
  }

  /** Counts an attempt that was refused. */
  refused(address: string): void {
    this.#options.onRefused(address);
  }

  /** A client at the forward's own port. */
  arrive(socket: net.Socket, source: Source): void {
    if (this.admits(source.address)) this.enter(socket, source);
    else breakOff(socket);
  }

  /** A client that is admitted, by whatever door. */
  enter(socket: net.Socket, { address, port }: Source): void {
    this.accept(socket, `${address.startsWith('::ffff:') ? address.slice(7) : address}:${port}`);
  }

  /** The agent behind which the router stands; empty while there is none. */
  get agentId(): string {
    return this.#agentId;
  }

  /** Its router stands behind this agent now. What another agent was given must be taken away first: {@link distrustAgent}. */
  assignAgent(agentId: string): void {
    this.#agentId = agentId;
  }

  /** Cuts what the agent carries, and takes no channel with the token that it was given. */
  distrustAgent(newTokenHash: string): void {
    this.#tokenHash = newTokenHash;
    this.#askedInEpoch = undefined;
    this.#pool.drop('this agent is no longer responsible');
  }

  /** Nobody carries it any more, and nobody is asked until its router is seen again. */
  leaveAgent(): void {
    this.#agentId = '';
    this.cancelRetry();
  }

  /** The agent is asked on the tunnel with this epoch; undefined when it has none. */
  noteTunnel(epoch: number | undefined): void {
    this.#askedInEpoch = epoch;
  }

  /** The agent is asked to open the way with another token; `warmChannels` channels will come by themselves. */
  expectChannels(tokenHash: string, warmChannels: number): void {
    this.#tokenHash = tokenHash;
    this.#askedAt = this.#options.clock.monotonic();
    this.#isLost = false;
    this.#pool.expect(warmChannels);
  }

  /** Whether the agent was asked on this tunnel. */
  wasAskedOn({ agentId, epoch }: { agentId: string; epoch: number }): boolean {
    return this.#agentId === agentId && this.#askedInEpoch === epoch;
  }

  /** Milliseconds since the agent was asked last, by the clock that nobody sets; infinite when it never was. */
  get sinceAskedMs(): number {
    return this.#options.clock.monotonic() - this.#askedAt;
  }

  /** The agent says that it has lost the way. @returns whether that is news: it counts once for each time that the agent was asked */
  noteLost(agentId: string): boolean {
    if (this.ended || this.#agentId !== agentId || this.#isLost) return false;
    this.#isLost = true;
    return true;
  }

  /** Whether the bearer of a channel shows the present token. */
  acceptsToken(bearer: string): boolean {
    return secretMatches(bearer, this.#tokenHash);
  }

  addChannel(socket: ChannelSocket): void {
    this.#pool.add(socket);
  }

  /** Channels that carry nothing may be dead. */
  dropFreeChannels(why: string): void {
    this.#pool.dropFree(why);
  }

  /** Does it after this time, instead of what was to be done before: two attempts that failed together are repeated once. */
  retryIn(ms: number, work: () => void): void {
    this.cancelRetry();
    this.#retryTimer = this.#options.clock.setTimeout(work, ms);
  }

  cancelRetry(): void {
    this.#retryTimer?.cancel();
  }

  /** Tries to open the port again; not after the end. */
  retryListeningIn(ms: number, work: () => void): void {
    this.#listenTimer = this.#options.clock.setTimeout(work, ms);
  }

  /** Why its port is not open, while it is not. */
  get portProblem(): string | undefined {
    return this.#portProblem;
  }

  /** @param reason why the port is not open; undefined when it is. @returns whether that is news */
  notePort(reason: string | undefined): boolean {
    const isNews = this.#portProblem !== reason;
    this.#portProblem = reason;
    return isNews;
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

  /** Whoever calls it has checked where the connection comes from. */
  accept(socket: ClientStream, source: string, ended?: (endedBy: EndedBy) => void): (why: EndedBy) => void {
    const openedAt = this.#options.clock.now();
    if (openedAt >= this.expiresAt && !this.#ended) this.#options.onExpired();
    if (this.#ended || this.full) {
      if (!this.#ended) this.refused(source);
      socket.on('error', () => undefined);
      socket.once('close', () => ended?.(this.#ended ?? 'no_channel'));
      socket.resetAndDestroy();
      return () => undefined;
    }
    const client = new ClientConnection(socket, { id: newId(openedAt), source, openedAt }, this.#options.clock.monotonic());
    const leave = this.#connections.add(client);
    client.start(this.#pool, (endedBy) => {
      leave();
      this.#options.onConnectionClosed(client.summary(this.#options.clock.now(), endedBy));
      ended?.(endedBy);
      if (this.#ended && this.#connections.size === 0) this.#drained.resolve();
    });
    return (why) => client.cut(why);
  }

  /** As the log would tell of them now. */
  openConnections(): LoggedConnection[] {
    const now = this.#options.clock.now();
    return this.#connections.members().map((client) => ({ ...client.summary(now, 'open'), teamId: this.teamId, forwardId: this.id }));
  }

  /** Looks at the counters now and then, so that bytes cost nothing; up to a quarter of the limit too late. */
  #scheduleIdleCheck(): void {
    const { clock, idleMs } = this.#options;
    if (idleMs === null || this.#ended) return;
    this.#idleCheck = clock.setTimeout(() => {
      // Elapsed: a clock that is set ahead must not cut everybody.
      const now = clock.monotonic();
      for (const connection of this.#connections.members()) if (now - connection.quietSince(now) >= idleMs) connection.cut('idle');
      this.#scheduleIdleCheck();
    }, idleMs / 4);
  }
}
