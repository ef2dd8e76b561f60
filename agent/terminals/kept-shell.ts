import { Channel } from '../../protocol/index.ts';
import type { ChannelSocket, ShellEnd } from '../../protocol/index.ts';
import { ByteRing } from '../../runtime/byte-ring.ts';
import { atBootTime } from '../core/clock.ts';
import type { Clock, Timer } from '../core/clock.ts';
import { toError } from '../core/deadline.ts';
import type { Log } from '../core/log.ts';
import type { ChannelEnd, DialChannel } from '../forward/types.ts';
import type { RouterShell, WindowSize } from '../routers/adapter.ts';
import { ShellLeg } from './shell-leg.ts';
import type { LegOwner } from './shell-leg.ts';

/** Output that waits for its reader before the router is held back: several screens. */
const WAITING_BYTES = 64 * 1024;

/**
 * Output that is kept, whether or not it was sent: what was on its way when a line broke is sent again. Includes {@link WAITING_BYTES} and
 * what a fast shell still delivers once it is held back, so at least half of it was sent.
 */
export const HISTORY_BYTES = 4 * WAITING_BYTES;

export interface ShellTimes {
  /** By `sinceBoot`: the shell ends then at the latest. */
  endsAt: number;
  /** It ends after this time without input, in milliseconds. */
  idleMs: number;
  /** It ends after this time without a channel, in milliseconds. */
  keepMs: number;
}

export interface KeptShellOptions {
  id: string;
  router: string;
  shell: RouterShell;
  times: ShellTimes;
  dialChannel: DialChannel;
  clock: Clock;
  log: Log;
  /** The shell is over. May be called again for a reader that came back later. */
  onEnded: (reason: ShellEnd, message: string) => void;
  /** Nobody needs it any more. */
  onForgotten: () => void;
}

const NO_TIMER: Timer = { cancel: () => undefined };

/**
 * One shell and what it takes to outlive its channels. A reader that does not read holds back the router: output that was not sent is
 * never dropped. Without a channel the shell ends after `keepMs`, without input after `idleMs`, and at `endsAt` in any case.
 */
export class KeptShell implements LegOwner {
  readonly id: string;
  readonly router: string;
  readonly history = new ByteRing(HISTORY_BYTES);
  readonly #options: KeptShellOptions;
  readonly #shell: RouterShell;
  #leg: ShellLeg | undefined;
  #channel: Channel | undefined;
  #dial = new AbortController();
  #sent = 0;
  #idleSince: number;
  #end: { reason: ShellEnd; message: string } | undefined;
  #expiry: Timer;
  #idle: Timer = NO_TIMER;
  #detached: Timer = NO_TIMER;
  #isForgotten = false;

  constructor(options: KeptShellOptions) {
    this.#options = options;
    this.id = options.id;
    this.router = options.router;
    this.#shell = options.shell;
    const { clock, times } = options;
    this.#idleSince = clock.monotonic();
    this.#expiry = atBootTime(clock, times.endsAt, () => this.end('expired', 'its longest time is over'));
    this.#watchIdle(times.idleMs);
    this.#watchDetached();
    this.#listen();
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Carries on over a new channel. @returns the first byte of output that it will carry */
  resume(end: ChannelEnd, from: number): number {
    const first = Math.min(Math.max(from, this.history.oldest), this.history.total);
    this.#leaveChannel('the terminal goes on over another channel');
    // What is sent again counts as not sent: the router must not print over it before it is read.
    this.#sent = first;
    this.#holdBack();
    this.#dial = new AbortController();
    void this.#dialChannel(end, first, this.#dial.signal);
    return first;
  }

  resize(size: WindowSize): void {
    if (!this.isOver) this.#shell.resize(size);
  }

  input(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.#idleSince = this.#options.clock.monotonic();
    if (this.isOver) done();
    // A shell that has just ended takes nothing more; its end is reported elsewhere.
    else this.#shell.write(bytes, () => done());
  }

  sent(upTo: number): void {
    this.#sent = Math.max(this.#sent, upTo);
    if (this.history.total - this.#sent < WAITING_BYTES && !this.isOver) this.#shell.resume();
  }

  /** Ends the shell; the reader still gets the output so far. */
  end(reason: ShellEnd, message: string): void {
    if (this.#end) return;
    this.#end = { reason, message };
    this.#expiry.cancel();
    this.#idle.cancel();
    this.#shell.destroy();
    this.#leg?.pump();
    this.#options.onEnded(reason, message);
    if (reason === 'detached') this.forget();
  }

  /** Ends everything at once, without a report. */
  forget(): void {
    if (this.#isForgotten) return;
    this.#isForgotten = true;
    this.#end ??= { reason: 'agent_stopped', message: '' };
    this.#expiry.cancel();
    this.#idle.cancel();
    this.#detached.cancel();
    this.#shell.destroy();
    this.#leaveChannel('the terminal is over');
    this.#options.onForgotten();
  }

  #listen(): void {
    const shell = this.#shell;
    let failure: Error | undefined;
    shell.on('data', (bytes: Buffer) => {
      this.history.append(bytes);
      this.#leg?.pump();
      this.#holdBack();
    });
    shell.on('error', (error) => (failure = error));
    shell.on('end', () => this.end('exited', 'the shell has ended'));
    shell.on('close', () => this.end('router_lost', failure?.message ?? 'the router closed the connection'));
  }

  #holdBack(): void {
    if (this.history.total - this.#sent >= WAITING_BYTES) this.#shell.pause();
  }

  /** Never rejects: the control plane asks again. */
  async #dialChannel({ token, url }: ChannelEnd, from: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.dialChannel(token, (socket) => this.#adopt(socket, from, signal), { signal, url });
    } catch (error) {
      if (signal.aborted) return;
      this.#options.log.debug({ err: toError(error), terminal_id: this.id }, 'the channel of a terminal could not be dialled');
    }
  }

  #adopt(socket: ChannelSocket, from: number, signal: AbortSignal): void {
    const channel: Channel = new Channel(socket, 'accepter', {
      onConnection: (connection) => {
        if (this.#leg) {
          connection.cut('a terminal has one connection');
          return;
        }
        const leg = new ShellLeg(this, from);
        this.#leg = leg;
        this.#detached.cancel();
        leg.once('close', () => this.#legClosed(leg));
        connection.attach(leg);
      },
      onClosed: () => {
        if (this.#channel === channel) this.#channel = undefined;
      },
    });
    if (signal.aborted) {
      channel.close('the terminal goes on over another channel');
      return;
    }
    this.#channel = channel;
  }

  #legClosed(leg: ShellLeg): void {
    if (this.#leg !== leg) return;
    this.#leg = undefined;
    this.#watchDetached();
    // The rest was read, and its end reported.
    if (this.#end && leg.readableEnded) this.forget();
  }

  #leaveChannel(reason: string): void {
    this.#dial.abort();
    const [leg, channel] = [this.#leg, this.#channel];
    this.#leg = undefined;
    this.#channel = undefined;
    leg?.destroy();
    channel?.close(reason);
    if (leg && !this.#isForgotten) this.#watchDetached();
    // Its first report may have been lost with the tunnel.
    if (this.#end && !this.#isForgotten) this.#options.onEnded(this.#end.reason, this.#end.message);
  }

  #watchDetached(): void {
    this.#detached.cancel();
    this.#detached = this.#options.clock.setTimeout(() => {
      if (this.#end) this.forget();
      else this.end('detached', 'nobody came back to it');
    }, this.#options.times.keepMs);
  }

  /** By the time of the last input, so that a keystroke costs no timer. */
  #watchIdle(ms: number): void {
    const { clock, times } = this.#options;
    this.#idle = clock.setTimeout(() => {
      const left = this.#idleSince + times.idleMs - clock.monotonic();
      if (left > 0) this.#watchIdle(left);
      else this.end('idle', 'there was no input for too long');
    }, ms);
  }
}
