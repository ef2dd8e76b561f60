import { EventEmitter } from 'node:events';
import type { ChannelSocket } from '../../protocol/channel-socket.ts';

type Message = { data: Buffer; isBinary: boolean; sent: (() => void) | undefined };

/** One end of a WebSocket that exists in memory only; messages move when the test says so. */
export class FakeChannelSocket extends EventEmitter implements ChannelSocket {
  peer!: FakeChannelSocket;
  /** Sent and not yet delivered. */
  outgoing: Message[] = [];
  paused = false;
  closeCode: number | undefined;
  #gone = false;

  get bufferedAmount(): number {
    return this.outgoing.reduce((sum, message) => sum + message.data.length, 0);
  }

  send(data: string | Buffer, sent?: () => void): void {
    if (this.#gone) return;
    const isBinary = typeof data !== 'string';
    this.outgoing.push({ data: Buffer.from(data as string), isBinary, sent });
  }

  /** Moves one message to the peer unless it does not read. @returns false when nothing moved */
  deliver(): boolean {
    if (this.peer.paused || this.#gone) return false;
    const message = this.outgoing.shift();
    if (!message) return false;
    this.peer.emit('message', message.data, message.isBinary);
    message.sent?.();
    return true;
  }

  ping(): void {
    this.peer.emit('ping', Buffer.alloc(0));
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  close(code = 1000): void {
    this.closeCode ??= code;
    this.terminate();
  }

  terminate(): void {
    if (this.#gone) return;
    this.#gone = true;
    for (const end of [this, this.peer]) {
      end.#gone = true;
      queueMicrotask(() => end.emit('close', this.closeCode ?? 1006, Buffer.alloc(0)));
    }
  }
}

export function fakeSocketPair(): [FakeChannelSocket, FakeChannelSocket] {
  const a = new FakeChannelSocket();
  const b = new FakeChannelSocket();
  a.peer = b;
  b.peer = a;
  return [a, b];
}
