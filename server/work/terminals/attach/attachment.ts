import { z } from 'zod';
import { terminalSize } from '../../../../protocol/index.ts';
import type { ChannelSocket } from '../../../../protocol/index.ts';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { UNSENT_BYTES } from '../limits.ts';
import type { Ending, WindowSize } from '../types.ts';

/** Version 1: bytes as binary messages, everything else as text messages with one JSON object each. */
export const TERMINAL_SUBPROTOCOL = 'signalbox.terminal.v1';

/** Close codes. They are part of the interface (docs/terminal.md). */
export const ATTACH_CLOSE = {
  ended: [1000, 'the terminal has ended'],
  shutdown: [1001, 'the server is being stopped'],
  invalid: [4400, 'not a message of this subprotocol'],
  elsewhere: [4409, 'the terminal is attached elsewhere'],
} as const satisfies Record<string, readonly [number, string]>;

/** Proxies cut connections that are silent for a minute. A client that answers none of two is gone. */
const PING_EVERY_MS = 25_000;

const clientMessage = z.object({ resize: z.object(terminalSize) });

export interface AttachmentEvents {
  /** @returns false when no more should be read until {@link Attachment.resume} */
  onInput(bytes: Buffer): boolean;
  onResize(size: WindowSize): void;
  /** The client has taken what waited for it. */
  onDrain(): void;
  onClosed(): void;
}

/** One client of a terminal: a page or the command line. */
export class Attachment {
  readonly #ws: ChannelSocket;
  readonly #events: AttachmentEvents;
  readonly #clock: Clock;
  #ping: Timer;
  #unanswered = 0;
  #isOpen = true;
  #isFull = false;

  /** Call in the same turn of the event loop in which the WebSocket opened. */
  constructor(ws: ChannelSocket, clock: Clock, events: AttachmentEvents) {
    this.#ws = ws;
    this.#clock = clock;
    this.#events = events;
    ws.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary));
    ws.on('pong', () => (this.#unanswered = 0));
    // The close event follows and is handled.
    ws.on('error', () => undefined);
    ws.on('close', () => this.#closed());
    this.#ping = this.#pingLater();
  }

  /** The client does not read as fast as the router writes. */
  get isFull(): boolean {
    return this.#isFull;
  }

  send(bytes: Buffer): void {
    if (!this.#isOpen || bytes.length === 0) return;
    this.#ws.send(bytes, () => this.#sent());
    if (this.#ws.bufferedAmount >= UNSENT_BYTES) this.#isFull = true;
  }

  /**
   * Announces the output before the attachment: a client must not answer what the router asked its terminal then.
   * @param toCome bytes of it that the agent is still to send
   */
  replay(pieces: readonly Buffer[], toCome: number): void {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, toCome);
    this.#text({ replay: { bytes } });
    for (const piece of pieces) this.send(piece);
  }

  /** The way to the router is broken, or restored. */
  tellAway(away: boolean): void {
    this.#text({ away });
  }

  resume(): void {
    if (this.#isOpen) this.#ws.resume();
  }

  end({ reason, message }: Ending): void {
    this.#text({ ended: true, reason, message });
    this.close('ended');
  }

  close(why: keyof typeof ATTACH_CLOSE): void {
    if (!this.#isOpen) return;
    const [code, reason] = ATTACH_CLOSE[why];
    this.#ws.close(code, reason);
    this.#closed();
  }

  #text(message: object): void {
    if (this.#isOpen) this.#ws.send(JSON.stringify(message));
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.#isOpen) return;
    this.#unanswered = 0;
    if (isBinary) {
      if (!this.#events.onInput(Buffer.from(data))) this.#ws.pause();
      return;
    }
    const message = readMessage(data);
    if (message) this.#events.onResize(message.resize);
    else this.close('invalid');
  }

  #sent(): void {
    if (!this.#isFull || this.#ws.bufferedAmount > UNSENT_BYTES / 2) return;
    this.#isFull = false;
    this.#events.onDrain();
  }

  #pingLater(): Timer {
    return this.#clock.setTimeout(() => {
      if (!this.#isOpen) return;
      // A client that holds back the router may answer late: what it still has to read is in front of the ping.
      this.#unanswered = this.#ws.bufferedAmount > 0 ? 0 : this.#unanswered + 1;
      if (this.#unanswered > 2) {
        this.#ws.terminate();
        return;
      }
      if (this.#ws.bufferedAmount === 0) this.#ws.ping();
      this.#ping = this.#pingLater();
    }, PING_EVERY_MS);
  }

  #closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#isFull = false;
    this.#ping.cancel();
    this.#events.onClosed();
  }
}

function readMessage(data: Buffer): z.infer<typeof clientMessage> | undefined {
  try {
    return clientMessage.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
