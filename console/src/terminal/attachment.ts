import type { Terminal } from '@xterm/xterm';
import { isAnswer } from './answers.ts';
import type { FromTerminal } from './messages.ts';

const SUBPROTOCOL = 'signalbox.terminal.v1';
const TICKET = 'signalbox.ticket.';
/** docs/terminal.md. */
const ENDED = 1000;
const ELSEWHERE = 4409;
/** Of what is pasted: the control plane takes messages of up to 64 KiB. */
const PIECE_BYTES = 16 * 1024;

interface ServerMessage {
  replay?: { bytes: number };
  away?: boolean;
  ended?: boolean;
  reason?: string;
  message?: string;
}

/** Connects a screen with a terminal of a router, one WebSocket after the other. */
export class Attachment {
  readonly #screen: Terminal;
  readonly #say: (message: FromTerminal) => void;
  #socket: WebSocket | undefined;
  /** Bytes of the past that are still to come, and pieces of it that are being drawn: questions in them have been answered. */
  #past = 0;
  #drawing = 0;
  #isFirst = true;

  constructor(screen: Terminal, say: (message: FromTerminal) => void) {
    this.#screen = screen;
    this.#say = say;
    screen.onData((text) => {
      if (!this.#isPast || !isAnswer(text)) this.#type(new TextEncoder().encode(text));
    });
    screen.onBinary((text) => this.#type(Uint8Array.from(text, (character) => character.charCodeAt(0))));
  }

  begin(path: string, ticket: string): void {
    this.#socket?.close();
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}`, [SUBPROTOCOL, `${TICKET}${ticket}`]);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#past = 0;
    let isOver = false;
    socket.addEventListener('open', () => {
      this.resize(this.#screen.cols, this.#screen.rows);
      this.#say({ kind: 'attached' });
    });
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') isOver = this.#hear(JSON.parse(data) as ServerMessage) || isOver;
      else this.#draw(new Uint8Array(data));
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      if (code === ELSEWHERE) this.#say({ kind: 'elsewhere' });
      else if (!isOver) this.#say(code === ENDED ? { kind: 'ended', reason: '', message: '' } : { kind: 'lost' });
    });
  }

  /** What is asked now was asked before. What a person types is meant for the router whenever it is typed. */
  get #isPast(): boolean {
    return this.#past > 0 || this.#drawing > 0;
  }

  resize(cols: number, rows: number): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ resize: { cols, rows } }));
  }

  #type(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) this.#socket.send(bytes.subarray(at, at + PIECE_BYTES));
  }

  /** @returns true at the end of the terminal */
  #hear(message: ServerMessage): boolean {
    if (message.replay) {
      // What this screen shows of an earlier attachment comes again.
      if (!this.#isFirst && message.replay.bytes > 0) this.#screen.reset();
      this.#isFirst = false;
      this.#past = message.replay.bytes;
    }
    if (message.away !== undefined) this.#say({ kind: 'away', away: message.away });
    if (message.ended !== true) return false;
    this.#say({ kind: 'ended', reason: message.reason ?? '', message: message.message ?? '' });
    return true;
  }

  #draw(bytes: Uint8Array): void {
    const past = Math.min(this.#past, bytes.length);
    this.#past -= past;
    if (past > 0) {
      this.#drawing += 1;
      this.#screen.write(bytes.subarray(0, past), () => (this.#drawing -= 1));
    }
    if (past < bytes.length) this.#screen.write(bytes.subarray(past));
  }
}
