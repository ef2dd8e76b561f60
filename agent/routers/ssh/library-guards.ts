import type { Client, ClientChannel } from 'ssh2';
import { createGroupKeys, type GroupKeys } from './group-exchange.ts';

/**
 * What ssh2 does with input that a router should not send, and the cure of each. Its own checks end the connection with an
 * error event; these are the cases that it does not check.
 */

/** The parts of ssh2 that it offers no public way to; their names are those of 1.17. */
interface GuardedProtocol {
  _kex: unknown;
  readonly _handlers: { CHANNEL_OPEN_CONFIRMATION?: (protocol: unknown, info: { packetSize: number }) => void };
}

interface GroupExchange {
  type: string;
  _dh?: GroupKeys;
  _public?: Buffer;
  readonly _prime: Buffer | null;
  readonly _generator: Buffer | null;
  generateKeys: () => void;
}

/**
 * The smallest packet that a peer may ask for. RFC 4253 has everybody take 32 KB. ssh2 cuts what it sends into packets of the
 * size the peer names: for ever when that is 0, and a packet for every byte when it is 1.
 */
const SMALLEST_PACKET_BYTES = 256;

/** Call it after `connect`, which makes the protocol. @param end ends the connection, with the reason */
export function guardProtocol(client: Client, end: (reason: string) => void): void {
  const protocol = (client as unknown as { _protocol: GuardedProtocol })._protocol;
  guardPacketSize(protocol, end);
  guardGroupExchange(protocol);
}

function guardPacketSize({ _handlers: handlers }: GuardedProtocol, end: (reason: string) => void): void {
  const confirmed = handlers.CHANNEL_OPEN_CONFIRMATION;
  handlers.CHANNEL_OPEN_CONFIRMATION = (protocol, info) => {
    if (info.packetSize < SMALLEST_PACKET_BYTES) end(`the router opens a channel with packets of ${info.packetSize} bytes`);
    else confirmed?.(protocol, info);
  };
}

/** Every key exchange of the connection is put into `_kex` when it begins. */
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

/** See {@link createGroupKeys}. What it throws, ssh2 shows as an error of the connection. */
function withoutPrimeCheck(exchange: GroupExchange): void {
  exchange.generateKeys = () => {
    if (exchange._dh || !exchange._prime || !exchange._generator) return;
    exchange._dh = createGroupKeys(exchange._prime, exchange._generator);
    exchange._public = exchange._dh.publicKey;
  };
}

/**
 * Data behind the end of a channel's data is an error of its stream, and of a second stream for stderr; an error that nobody
 * listens to ends the process. What the request needs to know, the channel's close tells.
 */
export function ignoreStreamErrors(channel: ClientChannel): void {
  channel.on('error', () => undefined);
  channel.stderr.on('error', () => undefined);
}
