import { encodeMessage, MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES } from '../../protocol/index.ts';
import type { AgentMessage } from '../../protocol/index.ts';
import type { Log } from '../core/log.ts';
import type { LinkSocket } from './types.ts';

/** Sends messages on one tunnel, within the limits. */
export class SendQueue {
  readonly #socket: LinkSocket;
  readonly #log: Log;

  constructor(socket: LinkSocket, log: Log) {
    this.#socket = socket;
    this.#log = log;
  }

  /** @returns false when it was not sent: too large, or the server does not read */
  send(message: AgentMessage, sent?: () => void): boolean {
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) return false;
    const text = encodeMessage(message);
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
      this.#log.error({ message_type: message.type }, 'message too large for the tunnel');
      return false;
    }
    this.#socket.send(text, sent);
    return true;
  }
}
