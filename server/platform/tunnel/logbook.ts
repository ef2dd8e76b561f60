import type { Clock } from '../core/clock.ts';
import type { EndedBy, TunnelEnd, TunnelListener, TunnelRecord } from '../core/tunnel-record.ts';
import type { CloseReason } from './closing.ts';
import type { AgentIdentity, TunnelSocket } from './types.ts';

/** How the record names an intended close. */
const ENDED_BY: Readonly<Record<CloseReason, EndedBy>> = {
  // Only after the agent's own goaway.
  normal: 'left',
  protocol: 'protocol',
  abuse: 'protocol',
  version: 'version',
  revoked: 'revoked',
  replaced: 'replaced',
  handshakeTimeout: 'handshake_timeout',
  restart: 'restart',
};

/** The operating system gave up the connection because no packet was acknowledged: this also counts as silence. */
const SILENT_ERRORS: ReadonlySet<string> = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

const PING_BYTES = 4;

interface LogbookDeps {
  identity: AgentIdentity;
  address: string;
  socket: Pick<TunnelSocket, 'bytesRead' | 'bytesWritten' | 'ping'>;
  clock: Clock;
  listener: TunnelListener | undefined;
}

/** The record of one tunnel: its last byte, its pings, and how it ended. */
export class Logbook implements TunnelRecord {
  readonly agentId: string;
  readonly teamId: string;
  readonly address: string;
  readonly openedAt: number;
  readyAt: number | null = null;
  epoch: number | null = null;
  agentVersion: string | null = null;
  reset = false;
  end: TunnelEnd | undefined;
  readonly #socket: LogbookDeps['socket'];
  readonly #clock: Clock;
  readonly #listener: TunnelListener | undefined;
  /** In monotonic time. */
  #heardAt: number;
  #pings = 0;
  /** When the newest ping left; undefined when it was answered. */
  #pingedAt: number | undefined;

  constructor({ identity, address, socket, clock, listener }: LogbookDeps) {
    this.agentId = identity.agentId;
    this.teamId = identity.teamId;
    this.address = address;
    this.#socket = socket;
    this.#clock = clock;
    this.#listener = listener;
    this.openedAt = clock.now();
    this.#heardAt = clock.monotonic();
    listener?.onOpened(this);
  }

  get bytesIn(): number {
    return this.#socket.bytesRead;
  }

  get bytesOut(): number {
    return this.#socket.bytesWritten;
  }

  /** Bytes were received. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  said(agentVersion: string): void {
    this.agentVersion = agentVersion;
  }

  greeted({ epoch, reset }: { epoch: number; reset: boolean }): void {
    this.epoch = epoch;
    this.reset = reset;
    this.#listener?.onProgress(this);
  }

  ready(): void {
    this.readyAt = this.#clock.now();
    this.#listener?.onProgress(this);
  }

  /** Pings carry a number, so that a late answer does not count for a later ping. */
  ping(): void {
    if (this.#pingedAt !== undefined) this.#listener?.onPing(this, null);
    this.#pings += 1;
    const mark = Buffer.alloc(PING_BYTES);
    mark.writeUInt32BE(this.#pings % 2 ** 32);
    this.#pingedAt = this.#clock.monotonic();
    this.#socket.ping(mark);
  }

  onPong(mark: Buffer): void {
    if (this.#pingedAt === undefined || mark.length !== PING_BYTES || mark.readUInt32BE() !== this.#pings % 2 ** 32) return;
    const roundTripMs = this.#clock.monotonic() - this.#pingedAt;
    this.#pingedAt = undefined;
    this.#listener?.onPing(this, roundTripMs);
  }

  /** @returns what ended it, as {@link ENDED_BY} */
  static endedBy(reason: CloseReason): EndedBy {
    return ENDED_BY[reason];
  }

  /** @param errorCode of the socket, if there was one */
  static lostBy(errorCode: string | undefined): EndedBy {
    return errorCode !== undefined && SILENT_ERRORS.has(errorCode) ? 'silence' : 'network';
  }

  close(endedBy: EndedBy, isRevoked = false): void {
    if (this.end) return;
    if (this.#pingedAt !== undefined && endedBy === 'silence') this.#listener?.onPing(this, null);
    const at = this.#clock.now();
    const lastHeardAt = Math.round(at - (this.#clock.monotonic() - this.#heardAt));
    this.end = { endedBy, at, lastHeardAt, ...(isRevoked ? { isRevoked } : {}) };
    this.#listener?.onEnded(this);
  }
}
