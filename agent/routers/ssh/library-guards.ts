import type { Socket } from 'node:net';
import type { Client, ClientChannel } from 'ssh2';
import type { RouterCpuBudget } from '../../core/cpu-budget.ts';
import { UnsolicitedBytes } from '../../core/unsolicited.ts';
import { createGroupKeys, type GroupKeys } from './group-exchange.ts';

/**
 * Guards against invalid input that ssh2 does not check. For the input that it does check, ssh2 ends the connection with an error
 * event.
 */

/** Private parts of ssh2, by their names in 1.17. */
interface GuardedProtocol {
  _kex: unknown;
  /** Absent before the greeting. */
  readonly _decipher?: { inSeqno: number };
  parse: (chunk: Buffer, from: number, to: number) => void;
  readonly _handlers: {
    CHANNEL_OPEN_CONFIRMATION?: (protocol: unknown, info: { packetSize: number }) => void;
    CHANNEL_DATA?: (protocol: unknown, recipient: number, data: Buffer) => void;
  };
}

/** An open channel; `window` is the number of bytes that it may still receive. */
interface OpenChannel {
  incoming?: { window: number };
}

interface GuardedClient {
  _protocol: GuardedProtocol;
  _chanMgr: { get(id: number): OpenChannel | undefined };
}

/** Cost of a packet beside its data: cipher, padding, MAC and the object. */
const PACKET_OVERHEAD_BYTES = 256;

interface GroupExchange {
  type: string;
  _dh?: GroupKeys;
  _public?: Buffer;
  readonly _prime: Buffer | null;
  readonly _generator: Buffer | null;
  generateKeys: () => void;
}

/**
 * The smallest maximum packet size that a peer may set. RFC 4253 requires support for 32 KB. ssh2 splits its data into packets of the
 * peer's size: an endless loop for 0, and a packet for every byte for 1.
 */
const SMALLEST_PACKET_BYTES = 256;

export interface GuardOptions {
  socket: Socket;
  /** What reading from this router may cost. */
  budget: RouterCpuBudget;
  /** Ends the connection, with the reason. */
  end: (reason: string) => void;
}

/** Call it after `connect`, which creates the protocol. */
export function guardProtocol(client: Client, options: GuardOptions): void {
  const guarded = client as unknown as GuardedClient;
  guardPacketSize(guarded._protocol, options.end);
  guardGroupExchange(guarded._protocol);
  guardEndless(guarded, options);
}

/**
 * Limits banners, keepalives and data for closed channels, of which ssh2 accepts any number. Data within a channel's window was
 * requested. Everything else counts as unsolicited, and its processing time counts against the router's CPU budget.
 */
function guardEndless({ _protocol: protocol, _chanMgr: channels }: GuardedClient, { socket, budget, end }: GuardOptions): void {
  const unsolicited = new UnsolicitedBytes();
  let asked = 0;
  let written = 0;
  let waits = false;
  const { CHANNEL_DATA: onData } = protocol._handlers;
  protocol._handlers.CHANNEL_DATA = (from, recipient, data) => {
    if ((channels.get(recipient)?.incoming?.window ?? 0) > 0) asked += data.length + PACKET_OVERHEAD_BYTES;
    onData?.(from, recipient, data);
  };
  const waitForTurn = (): void => {
    waits = true;
    socket.pause();
    budget.whenNext(() => {
      waits = false;
      socket.resume();
    });
  };
  const { parse } = protocol;
  protocol.parse = (chunk, from, to) => {
    const startedAt = performance.now();
    const packetsBefore = protocol._decipher?.inSeqno ?? 0;
    asked = 0;
    parse.call(protocol, chunk, from, to);
    // The packet count restarts after a key exchange.
    const packets = Math.max(0, (protocol._decipher?.inSeqno ?? 0) - packetsBefore);
    const cost = chunk.length + packets * PACKET_OVERHEAD_BYTES;
    // The router answers what it receives, mostly with window updates.
    asked += socket.bytesWritten - written;
    written = socket.bytesWritten;
    if (asked >= cost / 2) return;
    budget.spend(performance.now() - startedAt);
    const reason = unsolicited.count(cost - asked);
    if (reason !== undefined) end(reason);
    else if (budget.isSpent && !waits) waitForTurn();
  };
}

function guardPacketSize({ _handlers: handlers }: GuardedProtocol, end: (reason: string) => void): void {
  const confirmed = handlers.CHANNEL_OPEN_CONFIRMATION;
  handlers.CHANNEL_OPEN_CONFIRMATION = (protocol, info) => {
    if (info.packetSize < SMALLEST_PACKET_BYTES) end(`the router opens a channel with packets of ${info.packetSize} bytes`);
    else confirmed?.(protocol, info);
  };
}

/** ssh2 assigns every key exchange to `_kex` when it begins. */
function guardGroupExchange(protocol: GuardedProtocol): void {
  let exchange = protocol._kex;
  Object.defineProperty(protocol, '_kex', {
    configurable: true,
    get: () => exchange,
    set: (next: unknown) => {
      exchange = next;
      if (isGroupExchange(next)) withoutPrimeCheck(next);
    },
  });
}

function isGroupExchange(exchange: unknown): exchange is GroupExchange {
  return typeof exchange === 'object' && exchange !== null && 'type' in exchange && exchange.type === 'groupex';
}

/** See {@link createGroupKeys}. ssh2 reports what it throws as an error of the connection. */
function withoutPrimeCheck(exchange: GroupExchange): void {
  exchange.generateKeys = () => {
    if (exchange._dh || !exchange._prime || !exchange._generator) return;
    exchange._dh = createGroupKeys(exchange._prime, exchange._generator);
    exchange._public = exchange._dh.publicKey;
  };
}

/**
 * Data after the end of a channel's data is an error of its stream, and of the stderr stream; without a listener it would end the
 * process. The request only needs the channel's close event.
 */
export function ignoreStreamErrors(channel: ClientChannel): void {
  channel.on('error', () => undefined);
  channel.stderr.on('error', () => undefined);
}
