import { encodeMessage, MAX_MESSAGE_BYTES, MAX_OPEN_JOBS_PER_AGENT, MAX_UNSENT_BYTES } from '../../../protocol/index.ts';
import type { ServerMessage } from '../../../protocol/index.ts';
import type { TunnelSocket } from './types.ts';

/** The result of sending; only `sent` means that the message left. */
export type Sent = 'sent' | 'too_large' | 'congested' | 'closed';

/** Sends messages on one tunnel within its limits; can hold offers back. */
export class SendQueue {
  readonly #socket: TunnelSocket;
  #held: ServerMessage[] | undefined;

  constructor(socket: TunnelSocket) {
    this.#socket = socket;
  }

  send(message: ServerMessage): Sent {
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) return 'congested';
    const text = encodeMessage(message);
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) return 'too_large';
    this.#socket.send(text);
    return 'sent';
  }

  /** Queues a message until {@link release}. @returns false when the queue is full */
  hold(message: ServerMessage): boolean {
    this.#held ??= [];
    if (this.#held.length >= MAX_OPEN_JOBS_PER_AGENT) return false;
    this.#held.push(message);
    return true;
  }

  /** Sends the queued messages in order. Those that cannot be sent are lost, as on a broken connection. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.send(message);
  }
}
