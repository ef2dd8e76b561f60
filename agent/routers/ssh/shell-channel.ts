import type { ClientChannel } from 'ssh2';
import type { RouterShell, WindowSize } from '../adapter.ts';
import { TcpChannel } from './tcp-channel.ts';

/** A shell with a terminal as a normal Duplex. */
export class ShellChannel extends TcpChannel implements RouterShell {
  readonly #shell: ClientChannel;

  constructor(channel: ClientChannel, gather: () => void) {
    super(channel, gather);
    this.#shell = channel;
  }

  /** No answer is expected: a router that does not support it keeps the former size. */
  resize({ cols, rows }: WindowSize): void {
    // ssh2 throws once its connection has ended.
    if (!this.destroyed) this.#shell.setWindow(rows, cols, 0, 0);
  }
}
