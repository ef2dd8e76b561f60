/**
 * Passed along with bytes in a reusable buffer. A listener that keeps the bytes after the call must call it, and must call the
 * function that it returns once it no longer needs them. Returns undefined when the bytes may be kept.
 */
export type Hold = () => (() => void) | undefined;

/**
 * What a channel needs of a WebSocket. The class of the `ws` package and the one in websocket.ts both have this shape. A binary
 * message may arrive in several pieces, because only the order of the bytes matters; an empty piece is always an empty message.
 */
export interface ChannelSocket {
  /** Bytes given to `send` that the kernel has not taken yet. */
  readonly bufferedAmount: number;
  /** Sends a string as a text message, a buffer as a binary one. Calls `sent` when the kernel has it, or with an error. */
  send(data: string | Buffer, sent?: (error?: Error) => void): void;
  ping(): void;
  /** Stops reading from the network. Bytes that were read already may still be delivered. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean, hold?: Hold) => void): unknown;
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Largest binary message to send: the result of one socket read, so that nothing is split or joined. */
export const MAX_CHANNEL_MESSAGE_BYTES = 64 * 1024;

/** Largest text message. An `open` or `reset` needs at most 300 bytes. */
export const MAX_CHANNEL_TEXT_BYTES = 1024;
