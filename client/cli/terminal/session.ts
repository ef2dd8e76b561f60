import type { WebSocket } from 'ws';
import { ConnectionError } from '../../errors.ts';
import type { TerminalWithTicket } from '../../generated.ts';
import { pauseFor } from '../../transport.ts';
import type { Context, RawTerminal } from '../command.ts';
import { EscapeReader, withoutQueries } from './escapes.ts';

/** Why the session on this side is over. */
export type SessionEnd =
  | { kind: 'ended'; reason: string; message: string }
  /** `~.` */
  | { kind: 'asked' }
  /** `~&`, or another client has attached. */
  | { kind: 'left' };

/** The agent keeps a shell for this long without a reader. */
const KEPT_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** A page of the same person has taken the terminal over. */
const ELSEWHERE = 4409;

const CLEAR = '\u001b[2J\u001b[H';

/**
 * Connects the terminal of this process with one of a router until it ends. A broken connection is restored with a new ticket.
 * @throws ConnectionError when that fails for as long as the shell is kept, ProblemError when the server refuses
 */
export async function runSession(context: Context, terminal: RawTerminal, opened: TerminalWithTicket): Promise<SessionEnd> {
  const session = new Session(terminal);
  try {
    let ticket: TerminalWithTicket | undefined = opened;
    let lostAt: number | undefined;
    for (;;) {
      const end = ticket && (await session.attach(context.signalbox.attachTerminal(ticket), lostAt !== undefined));
      if (end) return end;
      if (session.wasOpen) lostAt = undefined;
      lostAt ??= performance.now();
      if (performance.now() - lostAt >= KEPT_MS) throw new ConnectionError('the connection to the terminal is lost', true, undefined);
      session.tell('the connection is lost; trying again, ~. gives up');
      await Promise.race([pauseFor(RETRY_MS), session.asked]);
      if (session.escape) return session.escape;
      ticket = await newTicket(context, opened.id);
    }
  } finally {
    session.close();
  }
}

/** Undefined without an answer. @throws ProblemError */
async function newTicket({ signalbox }: Context, id: string): Promise<TerminalWithTicket | undefined> {
  try {
    return (await signalbox.call('createTerminalTicket', { path: { terminal_id: id } }, { timeoutMs: 10_000 })).data;
  } catch (error) {
    if (error instanceof ConnectionError) return undefined;
    throw error;
  }
}

class Session {
  /** Whether the last attachment was accepted. */
  wasOpen = false;
  escape: SessionEnd | undefined;
  readonly asked: Promise<void>;
  readonly #terminal: RawTerminal;
  readonly #escapes = new EscapeReader();
  readonly #stop: (() => void)[];
  #ws: WebSocket | undefined;
  #hasTold = false;
  #ask: () => void = () => undefined;

  constructor(terminal: RawTerminal) {
    this.#terminal = terminal;
    this.asked = new Promise((resolve) => (this.#ask = resolve));
    this.#stop = [terminal.readBytes((bytes) => this.#type(bytes)), terminal.onResize(() => this.#resize())];
  }

  /** Resolves with the end, or with undefined when the connection broke. @param again the screen shows an earlier attachment */
  attach(ws: WebSocket, again: boolean): Promise<SessionEnd | undefined> {
    this.#ws = ws;
    this.wasOpen = false;
    let replayed = 0;
    let ended: SessionEnd | undefined;
    return new Promise((resolve) => {
      ws.on('open', () => {
        this.wasOpen = true;
        this.#hasTold = false;
        this.#resize();
      });
      ws.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) {
          const message = JSON.parse(data.toString('utf8')) as ServerMessage;
          if (message.replay) {
            replayed = message.replay.bytes;
            if (again && replayed > 0) this.#terminal.write(Buffer.from(CLEAR));
          }
          if (message.away !== undefined) this.tell(message.away ? 'the router’s agent is away; waiting' : 'the router’s agent is back');
          if (message.ended === true) ended = { kind: 'ended', reason: message.reason ?? '', message: message.message ?? '' };
          return;
        }
        const past = data.subarray(0, replayed);
        replayed -= past.length;
        this.#terminal.write(Buffer.concat([withoutQueries(past), data.subarray(past.length)]));
      });
      // The close event follows.
      ws.on('error', () => undefined);
      ws.on('close', (code) => resolve(this.escape ?? ended ?? (code === ELSEWHERE ? { kind: 'left' } : undefined)));
    });
  }

  /** Shows a line of this program, once until something changes. */
  tell(text: string): void {
    if (this.#hasTold && text.startsWith('the connection is lost')) return;
    this.#hasTold = true;
    this.#terminal.write(Buffer.from(`\r\n[signalbox: ${text}]\r\n`));
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#ws?.terminate();
  }

  #type(typed: Buffer): void {
    const { bytes, escape } = this.#escapes.read(typed);
    if (bytes.length > 0 && this.#ws?.readyState === this.#ws?.OPEN) this.#ws?.send(bytes);
    if (escape === undefined) return;
    this.escape = { kind: escape === 'end' ? 'asked' : 'left' };
    this.#ask();
    this.#ws?.close(1000);
  }

  #resize(): void {
    const { columns: cols, rows } = this.#terminal.size();
    if (this.#ws?.readyState === this.#ws?.OPEN) this.#ws?.send(JSON.stringify({ resize: { cols, rows } }));
  }
}

/** docs/terminal.md. */
interface ServerMessage {
  replay?: { bytes: number };
  away?: boolean;
  ended?: boolean;
  reason?: string;
  message?: string;
}
