import http from 'node:http';
import type { Socket } from 'node:net';
import { StreamingWebSocket, upgradeRequest } from '../../protocol/index.ts';
import type { ChannelSocket } from '../../protocol/index.ts';
import { onExpiry } from '../core/deadline.ts';
import { LinkError } from './errors.ts';
import { refusal } from './refusal.ts';

export interface ChannelDialOptions {
  url: URL;
  bearer: string;
  /** The connecting TCP or TLS socket to the control plane. */
  transport: Socket;
  /** See {@link StreamingWebSocket}. */
  plainMask: boolean;
}

/** Upgrades a connection to a channel. `attach` runs before any message can arrive. @throws LinkError */
export function openChannel<T>(
  { url, bearer, transport, plainMask }: ChannelDialOptions,
  attach: (socket: ChannelSocket) => T,
  deadline: { timeoutMs: number; signal?: AbortSignal },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const upgrade = upgradeRequest(bearer);
    const fail = (error: LinkError): void => {
      endWait();
      reject(error);
      transport.destroy();
    };
    // Also receives errors after the upgrade, which the stream's own listener handles.
    transport.on('error', (error) => fail(new LinkError('unreachable', error.message, { cause: error })));
    const endWait = onExpiry(deadline, (reason) => {
      fail(new LinkError(deadline.signal?.aborted ? 'cancelled' : 'timeout', `no connection: ${reason}`));
    });
    if (transport.destroyed) return;
    const headers = { host: url.host, ...upgrade.headers };
    const request = http.request({ path: url.pathname, headers, createConnection: () => transport });
    request.on('error', (error) => fail(new LinkError('unreachable', error.message, { cause: error })));
    request.on('response', (response) => fail(refusal(response)));
    request.on('upgrade', (response, stream, head) => {
      if (!upgrade.accepts(response.headers)) {
        fail(new LinkError('refused', 'the control plane does not speak this protocol'));
        return;
      }
      endWait();
      resolve(attach(new StreamingWebSocket(stream, head, { role: 'client', plainMask })));
    });
    request.end();
  });
}
