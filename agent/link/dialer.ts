import net from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import tls from 'node:tls';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { CHANNEL_PATH, MAX_MESSAGE_BYTES, SUBPROTOCOL, TUNNEL_PATH } from '../../protocol/index.ts';
import { pooledReads } from '../../runtime/pooled-reads.ts';
import type { ChannelSocket } from '../../protocol/index.ts';
import { onExpiry } from '../core/deadline.ts';
import { openChannel } from './channel-dial.ts';
import { isLoopback, otherServerBase, webSocketBase } from './channel-servers.ts';
import { describeConnectionError } from './connection-errors.ts';
import { LinkError } from './errors.ts';
import { refusal } from './refusal.ts';
import type { LinkSocket, LinkSocketEvents, TunnelDialer } from './types.ts';

/** For name look-up, TCP, TLS and the upgrade, in milliseconds: three round trips and some time for a busy server. */
const DIAL_TIMEOUT_MS = 15_000;

/** A closing handshake that the server does not finish is cut after this time, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/** Control planes of one installation, and some more: each session has a few kilobytes. */
const MOST_TLS_SESSIONS = 16;

export interface DialerOptions {
  /** Base address of the control plane: `https://host[:port][/path]`, or http, ws, wss. */
  server: string;
  agentId: string;
  secret: string;
  /** PEM of the authority that signed the server's certificate, instead of the public ones. */
  ca?: string | undefined;
}

/** Dials the control plane: the tunnel with the agent's secret, channels with their forward's token. */
export class Dialer implements TunnelDialer {
  readonly #options: DialerOptions;
  readonly #base: URL;
  /** The newest TLS session of each server: the next dial resumes it and saves the certificate exchange. */
  readonly #tlsSessions = new Map<string, Buffer>();

  /** @throws LinkError `refused` for an invalid address */
  constructor(options: DialerOptions) {
    this.#options = options;
    this.#base = webSocketBase(options.server);
  }

  async dialTunnel<T extends LinkSocketEvents>(attach: (socket: LinkSocket) => T, signal: AbortSignal): Promise<T> {
    const { agentId, secret } = this.#options;
    const { ws, transport } = this.#open(TUNNEL_PATH, `${agentId}:${secret}`, MAX_MESSAGE_BYTES);
    const take = (): T => {
      const events = attach(linkSocket(ws, transport));
      ws.on('message', (data, isBinary) => {
        if (isBinary) events.onBinary();
        else events.onText((data as Buffer).toString());
      });
      ws.on('pong', (mark) => {
        events.onPong(mark.toString('latin1'));
      });
      ws.on('close', (code) => {
        events.onClosed(code);
      });
      return events;
    };
    return whenOpen(ws, take, { timeoutMs: DIAL_TIMEOUT_MS, signal });
  }

  /**
   * Opens one channel with its forward's token. `attach` runs before any message can arrive.
   * @param options `url`: the control plane to dial, of several; the configured one unless given
   * @throws LinkError
   */
  async dialChannel<T>(
    token: string,
    attach: (socket: ChannelSocket) => T,
    { url: server, ...deadline }: { timeoutMs?: number; signal?: AbortSignal; url?: string | undefined } = {},
  ): Promise<T> {
    const url = urlOf(server === undefined ? this.#base : otherServerBase(server, this.#base), CHANNEL_PATH);
    const reads = pooledReads();
    const transport = this.#connect(url, reads.onread);
    reads.attach(transport);
    const options = { url, bearer: token, transport, plainMask: mayMaskPlainly(url) };
    return openChannel(options, attach, { timeoutMs: DIAL_TIMEOUT_MS, ...deadline });
  }

  /** Why channels are not dialled to this address; undefined when they are. */
  channelRefusal(server: string): string | undefined {
    try {
      otherServerBase(server, this.#base);
      return undefined;
    } catch (error) {
      return (error as LinkError).message;
    }
  }

  #open(path: string, bearer: string, maxPayload: number): { ws: WebSocket; transport: Socket } {
    const url = urlOf(this.#base, path);
    const transport = this.#connect(url);
    const options: ClientOptions & { closeTimeout: number } = {
      headers: { authorization: `Bearer ${bearer}` },
      perMessageDeflate: false,
      maxPayload,
      closeTimeout: CLOSE_TIMEOUT_MS,
      createConnection: () => transport,
      ...(mayMaskPlainly(url) ? { generateMask: zeroMask } : {}),
    };
    try {
      return { ws: new WebSocket(url, SUBPROTOCOL, options), transport };
    } catch (error) {
      // A credential with characters that are not allowed in a header.
      transport.destroy();
      throw new LinkError('refused', 'the credential cannot be sent', { cause: error });
    }
  }

  /** `onread` is for connections that carry bulk. */
  #connect(url: URL, onread?: OnReadOpts): Socket {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port || (isSecure(url) ? 443 : 80));
    const pooled = onread === undefined ? {} : { onread };
    if (!isSecure(url)) return net.connect({ host, port, noDelay: true, ...pooled });
    const { ca } = this.#options;
    const session = this.#tlsSessions.get(url.host);
    const socket = tls.connect({
      host,
      port,
      ...pooled,
      // The name to request and verify. An IP address is verified as such, and may not be sent as a name.
      servername: net.isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(ca === undefined ? {} : { ca }),
      ...(session === undefined ? {} : { session }),
    });
    socket.setNoDelay(true);
    socket.on('session', (newest) => this.#keepSession(url.host, newest));
    return socket;
  }

  #keepSession(host: string, session: Buffer): void {
    this.#tlsSessions.delete(host);
    this.#tlsSessions.set(host, session);
    const [oldest] = this.#tlsSessions.keys();
    if (this.#tlsSessions.size > MOST_TLS_SESSIONS && oldest !== undefined) this.#tlsSessions.delete(oldest);
  }
}

function urlOf(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url;
}

function isSecure(url: URL): boolean {
  return url.protocol === 'wss:';
}

function mayMaskPlainly(url: URL): boolean {
  return isSecure(url) || isLoopback(url.hostname);
}

/**
 * Masking protects plain-text proxies against hostile scripts in browsers. Under TLS and on loopback there is no such proxy, and a
 * zero key saves the XOR of every byte on both sides.
 */
function zeroMask(mask: Buffer): void {
  mask.fill(0);
}

/** Resolves once the WebSocket is open and `take` has attached its handlers; rejects when it cannot be opened. */
function whenOpen<T>(ws: WebSocket, take: () => T, deadline: { timeoutMs: number; signal?: AbortSignal }): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let waiting = true;
    let endWait = (): void => undefined;
    const finish = (): void => {
      waiting = false;
      endWait();
    };
    const fail = (error: LinkError): void => {
      finish();
      reject(error);
      ws.terminate();
    };
    // Stays attached for the life of the connection. Once it is open, the close event that follows is enough.
    ws.on('error', (error) => {
      if (waiting) fail(new LinkError('unreachable', describeConnectionError(error), { cause: error }));
    });
    ws.on('unexpected-response', (_request, response) => {
      fail(refusal(response));
    });
    ws.on('open', () => {
      finish();
      resolve(take());
    });
    endWait = onExpiry(deadline, (reason) => {
      fail(new LinkError(deadline.signal?.aborted ? 'cancelled' : 'timeout', `no connection: ${reason}`));
    });
  });
}

function linkSocket(ws: WebSocket, transport: Socket): LinkSocket {
  return {
    send: (text, sent) => {
      ws.send(text, () => sent?.());
    },
    ping: (mark) => {
      ws.ping(mark);
    },
    close: (code, reason) => {
      ws.close(code, reason);
    },
    terminate: () => {
      ws.terminate();
    },
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    get bytesRead() {
      return transport.bytesRead;
    },
  };
}
