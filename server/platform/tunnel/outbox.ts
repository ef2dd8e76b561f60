import { encodeMessage, MAX_MESSAGE_BYTES, MAX_OPEN_JOBS_PER_AGENT, MAX_UNSENT_BYTES } from '../../../protocol/index.ts';
import type { ServerMessage } from '../../../protocol/index.ts';
import type { TunnelSocket } from './types.ts';

/** What became of a message: nothing reached the agent unless it says `sent`. */
export type Sent = 'sent' | 'too_large' | 'congested' | 'closed';

/** Everything that leaves on one tunnel, within the limits; offers can be held back for a while. */
export class Outbox {
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

  /** Keeps a message for {@link release}. @returns false when too many are held already */
  hold(message: ServerMessage): boolean {
    this.#held ??= [];
    if (this.#held.length >= MAX_OPEN_JOBS_PER_AGENT) return false;
    this.#held.push(message);
    return true;
  }

  /** Sends what was held, in order. What does not leave is lost like any message on a bad line. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.send(message);
  }
}
