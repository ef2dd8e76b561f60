import { WebSocket } from 'ws';
import { ApiClient, requestOf } from './api-client.ts';
import type { Input, OperationId } from './api-client.ts';
import type { CallOptions, TransportOptions } from './transport.ts';

const HANDSHAKE_MS = 30_000;

/** Client of a control plane for programs on Node: the operations of {@link ApiClient}, downloads and connections through forwards. */
export class Signalbox extends ApiClient {
  readonly #server: string;
  readonly #key: string;

  constructor(options: TransportOptions & { key: string }) {
    super(options);
    this.#server = options.server.replace(/\/+$/, '').replace(/^http/, 'ws');
    this.#key = options.key;
  }

  /** The bytes of an answer that is not JSON, such as a backup. Throws like {@link call}. */
  async download<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions = {}): Promise<Buffer> {
    const answer = await this.transport.open({ ...options, ...requestOf(id, input) });
    return Buffer.from(await answer.arrayBuffer());
  }

  /** A shell of a router: the ticket works once. Refusals are its `error` event. See docs/terminal.md. */
  attachTerminal({ attach_path: path, ticket }: { attach_path: string; ticket: string }): WebSocket {
    return new WebSocket(`${this.#server}${path}`, ['signalbox.terminal.v1', `signalbox.ticket.${ticket}`], {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
  }

  /** A TCP connection of a forward: binary messages, an empty one is a half-close. Refusals are its `error` event. See docs/forwards.md. */
  connectForward(routerId: string, forwardId: string): WebSocket {
    const path = `/api/routers/${encodeURIComponent(routerId)}/transient-forwarding/${encodeURIComponent(forwardId)}/connect`;
    return new WebSocket(`${this.#server}${path}`, 'signalbox.connect.v1', {
      headers: { authorization: `Bearer ${this.#key}` },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
  }
}
