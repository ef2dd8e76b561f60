import type { SendError, SendResult } from '../../channels/types.ts';

/** No provider was reached. */
const UNREACHED: ReadonlySet<SendError> = new Set(['timed_out', 'name_not_found', 'connect_failed', 'connection_lost']);

/** So many channels that fail are hardly all of them down. */
const CHANNELS = 2;

/** How long the messages to a provider wait when this server is cut off, milliseconds. Then one of them tries it. */
export const CUT_OFF_PAUSE_MS = 30_000;

/**
 * Whether this server has lost its line: messages by several channels reach no provider, and none has arrived anywhere meanwhile. Of this process
 * only: it decides how soon a message is tried again, and nothing else.
 */
export class Line {
  readonly #unreached = new Set<string>();

  /** An attempt has ended. */
  note(channel: string, result: SendResult): void {
    if (result.outcome === 'stopped') return;
    if (result.outcome === 'retry' && UNREACHED.has(result.error)) this.#unreached.add(channel);
    else this.#unreached.clear();
  }

  get isCut(): boolean {
    return this.#unreached.size >= CHANNELS;
  }
}
