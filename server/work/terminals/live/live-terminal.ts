import { ByteRing } from '../../../../runtime/byte-ring.ts';
import { Channel } from '../../../../protocol/index.ts';
import type { ChannelSocket, TerminalLevel } from '../../../../protocol/index.ts';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { hashSecret, newSecret, secretMatches } from '../../../platform/core/ids.ts';
import { Attachment } from '../attach/attachment.ts';
import { REPLAY_BYTES, UNSEEN_BYTES, UNSTORED_BYTES, WAITING_INPUT_BYTES } from '../limits.ts';
import type { TerminalLimits } from '../limits.ts';
import { gapText } from '../recording/cast.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { Ending, Opener, Ticket, WindowSize } from '../types.ts';
import { TerminalLeg } from './leg.ts';
import type { LegOwner } from './leg.ts';

export interface LiveTerminalOptions {
  id: string;
  teamId: string;
  routerId: string;
  agentId: string;
  level: TerminalLevel;
  opener: Opener;
  size: WindowSize;
  /** It was open before this process started. */
  wasConnected: boolean;
  /** Time that is left of its longest life, milliseconds. */
  leftMs: number;
  recorder: Recorder;
  clock: Clock;
  limits: TerminalLimits;
  /** Settles once the size is on its way to the agent, or is given up. Never rejects. */
  onResize: (size: WindowSize) => Promise<void>;
  /** The channel is gone while the terminal is open. */
  onAway: () => void;
  /** The recording is as long as it may be. */
  onFull: () => void;
}

/** More than 256 bits. */
const SECRET_LENGTH = 48;
/** No secret has this hash. */
const NO_SECRET = '0'.repeat(64);
const EMPTY = Buffer.alloc(0);

/** Room that a recording keeps for what waits when the limit is reached. */
const FULL_MARGIN_CHARS = 64 * 1024;

/**
 * One open terminal on this node: its channel to the agent, the attached client and the recording between them. Output is taken from the
 * agent only as fast as the client reads it and the database stores it.
 */
export class LiveTerminal implements LegOwner {
  readonly id: string;
  readonly teamId: string;
  readonly routerId: string;
  readonly agentId: string;
  readonly level: TerminalLevel;
  readonly opener: Opener;
  readonly recorder: Recorder;
  /** Monotonic time of its end. */
  readonly endsAt: number;
  size: WindowSize;
  /** The agent has not answered yet: there is no shell to carry on with. */
  isOpening: boolean;
  readonly #options: LiveTerminalOptions;
  readonly #clock: Clock;
  #history = new ByteRing(REPLAY_BYTES);
  /** False until the first output after a restart: then the agent's history is taken as it is. */
  #hasHistory = false;
  /** Offset up to which the output was printed, and recorded, before a restart: the agent sends it once more. */
  #printedBefore = 0;
  /** What the terminal says in front of this offset. */
  #gap: { at: number; notice: Buffer } | undefined;
  #attachment: Attachment | undefined;
  #unseen = 0;
  #lastInput: number;
  #detachedSince: number;
  #awaySince: number | undefined;
  #wasConnected: boolean;
  #input: Buffer[] = [];
  #inputBytes = 0;
  /** Sizes of the window that are not on their way to the agent yet. */
  #waitingSizes = 0;
  #ticketHash = NO_SECRET;
  #ticketEnds = 0;
  #tokenHash = NO_SECRET;
  #channel: Channel | undefined;
  #leg: TerminalLeg | undefined;
  /** First byte that the next channel carries, once the agent has said so. */
  #from: number | undefined;
  #blocked: (() => void) | undefined;
  #retry: Timer | undefined;
  #ended: Ending | undefined;
  #onComplete: (() => void) | undefined;
  /** Offset of output that somebody waits for. */
  #target = Infinity;
  #onReached: () => void = () => undefined;

  constructor(options: LiveTerminalOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.id = options.id;
    this.teamId = options.teamId;
    this.routerId = options.routerId;
    this.agentId = options.agentId;
    this.level = options.level;
    this.opener = options.opener;
    this.recorder = options.recorder;
    this.size = options.size;
    const now = this.#clock.monotonic();
    this.endsAt = now + options.leftMs;
    this.#lastInput = now;
    this.#detachedSince = now;
    this.#awaySince = now;
    this.#wasConnected = options.wasConnected;
    this.isOpening = !options.wasConnected;
  }

  get ended(): Ending | undefined {
    return this.#ended;
  }

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  /** The way to the router is broken. */
  get isAway(): boolean {
    return this.#wasConnected && this.#awaySince !== undefined;
  }

  get needsChannel(): boolean {
    return this.#awaySince !== undefined;
  }

  /** First byte of output that is wanted from the agent. */
  get wanted(): number {
    return this.#hasHistory ? this.#history.total : 0;
  }

  /** Why its time is over; undefined while it is not. */
  timeOver(): Ending | undefined {
    const { limits } = this.#options;
    const now = this.#clock.monotonic();
    if (now >= this.endsAt) return { reason: 'expired', message: 'a terminal lasts two hours at most' };
    if (now - this.#lastInput >= limits.idleMs) return { reason: 'idle', message: 'nothing was typed for ten minutes' };
    if (this.#awaySince !== undefined && now - this.#awaySince >= limits.keepMs)
      return { reason: 'agent_away', message: 'the agent was away for five minutes' };
    if (!this.#attachment && now - this.#detachedSince >= limits.keepMs)
      return { reason: 'detached', message: 'nobody was attached for five minutes' };
    return undefined;
  }

  /** A ticket for one attachment. It replaces an earlier one. */
  newTicket(): Ticket {
    const ticket = newSecret(SECRET_LENGTH);
    const { ticketMs: validMs } = this.#options.limits;
    this.#ticketHash = hashSecret(ticket);
    this.#ticketEnds = this.#clock.monotonic() + validMs;
    return { ticket, validMs };
  }

  /** Whether the ticket is the present one; it is used up by that. */
  redeem(ticket: string): boolean {
    const isValid = !this.#ended && this.#clock.monotonic() < this.#ticketEnds && secretMatches(ticket, this.#ticketHash);
    if (isValid) this.#ticketHash = NO_SECRET;
    return isValid;
  }

  /** A token with which the agent may dial the next channel. Channels of earlier ones are closed. */
  newChannelToken(): string {
    const token = `${this.id}:${newSecret(SECRET_LENGTH)}`;
    this.#tokenHash = hashSecret(token);
    this.leaveChannel('the terminal goes on over another channel');
    return token;
  }

  acceptsToken(bearer: string): boolean {
    return !this.#ended && secretMatches(bearer, this.#tokenHash);
  }

  addChannel(socket: ChannelSocket): void {
    // One token, one channel.
    this.#tokenHash = NO_SECRET;
    const channel: Channel = new Channel(socket, 'opener', { onClosed: () => this.#channelClosed(channel) });
    if (this.#ended || this.#channel) {
      channel.close('the terminal has a channel');
      return;
    }
    this.#channel = channel;
    this.#begin();
  }

  /** The agent says from where on its channel carries the output. */
  expectOutput(from: number): void {
    this.#from = from;
    this.#begin();
  }

  /** Call in the same turn of the event loop in which the WebSocket opened. An earlier client is sent away. */
  attach(ws: ChannelSocket): void {
    this.#attachment?.close('elsewhere');
    const attachment: Attachment = new Attachment(ws, this.#clock, {
      onInput: (bytes) => this.#takeKeys(attachment, bytes),
      onResize: (size) => this.#resize(attachment, size),
      onDrain: () => this.#unblock(),
      onClosed: () => this.#detached(attachment),
    });
    this.#attachment = attachment;
    this.#unseen = 0;
    attachment.replay(this.#replay(), this.#pastToCome);
    if (this.isAway) attachment.tellAway(true);
    if (this.#inputBytes < WAITING_INPUT_BYTES) attachment.resume();
    this.#unblock();
  }

  output(bytes: Buffer, done: () => void): void {
    const at = this.#history.total;
    this.#hasHistory = true;
    this.#history.append(bytes);
    this.recorder.output(at, bytes);
    if (this.#attachment) this.#attachment.send(bytes);
    else this.#unseen += bytes.length;
    if (this.recorder.chars >= this.#options.limits.recordingChars - FULL_MARGIN_CHARS) this.#options.onFull();
    if (this.#history.total >= this.#target) this.#onReached();
    this.#blocked = done;
    this.#unblock();
  }

  takeInput(): Buffer | undefined {
    if (this.#waitingSizes > 0) return undefined;
    const bytes = this.#input.shift();
    if (!bytes) return undefined;
    this.#inputBytes -= bytes.length;
    if (this.#inputBytes < WAITING_INPUT_BYTES / 2) this.#attachment?.resume();
    return bytes;
  }

  /** Some of the recording is stored: the router may go on. */
  stored(): void {
    this.#unblock();
  }

  retryIn(ms: number, work: () => void): void {
    this.#retry?.cancel();
    this.#retry = this.#clock.setTimeout(work, ms);
  }

  /** Calls back once when all output of a shell that has ended has arrived; at once if nothing is expected any more. */
  whenComplete(callback: () => void): void {
    if (this.#leg?.isComplete === true || !this.#channel) callback();
    else this.#onComplete = callback;
  }

  /** Resolves once the output before this offset is here, or the terminal has ended. For one waiter. */
  reached(offset: number): Promise<void> {
    if (this.#ended || (this.#hasHistory ? this.#history.total : 0) >= offset) return Promise.resolve();
    this.#target = offset;
    return new Promise((resolve) => (this.#onReached = resolve));
  }

  /** Ends everything here at once. @returns false when it had ended before */
  end(ending: Ending): boolean {
    if (this.#ended) return false;
    this.#ended = ending;
    this.#release();
    this.#attachment?.end(ending);
    return true;
  }

  /** Leaves the shell at the agent: for the next start, or for another control plane. */
  leave(why: 'shutdown' | 'elsewhere' = 'shutdown'): void {
    this.#ended ??= { reason: 'agent_away', message: '' };
    this.#release();
    this.#attachment?.close(why);
  }

  /** Closes the channel, because another one will follow or none. */
  leaveChannel(reason: string): void {
    const channel = this.#channel;
    if (!channel) return;
    this.#channel = undefined;
    this.#leg = undefined;
    this.#from = undefined;
    this.#blocked = undefined;
    this.#awaySince ??= this.#clock.monotonic();
    channel.close(reason);
  }

  #release(): void {
    this.#retry?.cancel();
    this.#ticketHash = NO_SECRET;
    this.#tokenHash = NO_SECRET;
    this.leaveChannel('the terminal has ended');
    this.#input = [];
    this.#inputBytes = 0;
    this.#onComplete = undefined;
    this.#onReached();
  }

  /** Starts the connection as soon as there is a channel and the agent has answered. */
  #begin(): void {
    const [channel, from] = [this.#channel, this.#from];
    if (!channel || from === undefined || this.#leg || this.#ended) return;
    const connection = channel.open();
    if (!connection) return;
    this.#from = undefined;
    this.#alignHistory(from);
    this.#retry?.cancel();
    const leg = new TerminalLeg(this);
    this.#leg = leg;
    leg.once('finish', () => this.#completed());
    connection.attach(leg);
    if (this.isAway) this.#attachment?.tellAway(false);
    this.#awaySince = undefined;
    this.#wasConnected = true;
  }

  /** After a restart the agent's history becomes ours. Before a gap, which the recording names too, nothing is shown again. */
  #alignHistory(from: number): void {
    const known = this.#hasHistory ? this.#history.total : this.recorder.recorded;
    if (this.#hasHistory && from <= known) return;
    this.#history = new ByteRing(REPLAY_BYTES, from);
    this.#printedBefore = known;
    if (this.#pastToCome > 0) this.#attachment?.replay([], this.#pastToCome);
    if (from <= known) return;
    this.#gap = { at: from, notice: Buffer.from(gapText(from - known)) };
    this.#attachment?.send(this.#gap.notice);
    this.recorder.output(from, EMPTY);
  }

  #completed(): void {
    const callback = this.#onComplete;
    this.#onComplete = undefined;
    callback?.();
  }

  #channelClosed(channel: Channel): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#leg = undefined;
    this.#from = undefined;
    // A write of a stream that is gone needs no answer.
    this.#blocked = undefined;
    this.#completed();
    if (this.#ended) return;
    this.#awaySince ??= this.#clock.monotonic();
    this.#attachment?.tellAway(true);
    this.#options.onAway();
  }

  #takeKeys(attachment: Attachment, bytes: Buffer): boolean {
    if (attachment !== this.#attachment || this.#ended) return true;
    this.#lastInput = this.#clock.monotonic();
    this.recorder.inputBytes += bytes.length;
    this.#input.push(bytes);
    this.#inputBytes += bytes.length;
    this.#leg?.pump();
    return this.#inputBytes < WAITING_INPUT_BYTES;
  }

  #resize(attachment: Attachment, size: WindowSize): void {
    if (attachment !== this.#attachment || this.#ended) return;
    if (size.cols === this.size.cols && size.rows === this.size.rows) return;
    this.size = size;
    this.recorder.resize(size);
    void this.#sendSize(size);
  }

  /** Keys wait for a size: it may go through another control plane, and the router must not draw what they ask for in the former window. */
  async #sendSize(size: WindowSize): Promise<void> {
    this.#waitingSizes += 1;
    await this.#options.onResize(size);
    this.#waitingSizes -= 1;
    this.#leg?.pump();
  }

  #detached(attachment: Attachment): void {
    if (this.#attachment !== attachment) return;
    this.#attachment = undefined;
    this.#detachedSince = this.#clock.monotonic();
    this.#unblock();
  }

  /** Bytes. */
  get #pastToCome(): number {
    return Math.max(0, this.#printedBefore - this.#history.total);
  }

  /** The output so far, in order. */
  #replay(): Buffer[] {
    const { oldest } = this.#history;
    const pieces: Buffer[] = this.#gap?.at === oldest ? [this.#gap.notice] : [];
    for (let at = oldest; at < this.#history.total;) {
      const piece = this.#history.read(at, REPLAY_BYTES);
      pieces.push(piece);
      at += piece.length;
    }
    return pieces;
  }

  /** Lets the router go on, unless somebody has too much to take already. */
  #unblock(): void {
    const done = this.#blocked;
    const isHeldBack =
      this.#attachment?.isFull === true || this.recorder.unstored >= UNSTORED_BYTES || (!this.#attachment && this.#unseen >= UNSEEN_BYTES);
    if (!done || isHeldBack) return;
    this.#blocked = undefined;
    done();
  }
}
