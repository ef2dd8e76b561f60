/**
 * Given with bytes whose buffer will be used again: whoever keeps them longer than the call says so, and calls what it
 * gets back once they are no longer needed. Undefined when the bytes may be kept as they are.
 */
export type Hold = () => (() => void) | undefined;

/**
 * What a channel needs of a WebSocket. The class of the `ws` package has this shape, and so does the streaming one in
 * websocket.ts. A binary message may be delivered in several pieces, because only the order of the bytes matters; an
 * empty piece is always an empty message.
 */
export interface ChannelSocket {
  /** Bytes given to `send` that the kernel has not taken yet. */
  readonly bufferedAmount: number;
  /** A string becomes a text message, a buffer a binary one; `sent` is called when the kernel has it, or with an error. */
  send(data: string | Buffer, sent?: (error?: Error) => void): void;
  ping(): void;
  /** Stops reading from the network; what was read already may still be delivered. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean, hold?: Hold) => void): unknown;
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Largest binary message that is sent: what one read of a socket gives, so that nothing is split or joined. */
export const MAX_CHANNEL_MESSAGE_BYTES = 64 * 1024;

/** Largest text message. */
export const MAX_CHANNEL_TEXT_BYTES = 1024;
