import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { Signalbox } from '../../../client/index.ts';

export interface TerminalClientOptions {
  url: string;
  /** Of an administrator, who ends what an operator has opened. */
  apiKey: string;
  routerId: string;
  /** How long keys are typed, milliseconds. */
  typedMs: number;
}

/** One terminal, milliseconds. */
export interface TerminalVisit {
  /** From the request to the router's prompt on the screen. */
  promptMs: number;
  /** Of each key, until it came back. */
  echoMs: number[];
  /** From the request to end it to the message that it has ended. */
  endMs: number;
}

/** Opened one after the other; the first ones warm up the compiler and are not counted. */
const VISITS = 3;
const WARM_UPS = 1;
/** Keys before the line is cleared. */
const LINE = 60;
/** Clears the line without running it. */
const CTRL_U = '\u0015';

/** Visits terminals as a person would who types as fast as the echo comes. */
export async function startTerminalClientPart({ url, apiKey, routerId, typedMs }: TerminalClientOptions): Promise<TerminalVisit[]> {
  const admin = new Signalbox({ server: url, key: apiKey });
  const { data: key } = await admin.call('createApiKey', { body: { name: 'terminal', role: 'operator' } });
  const operator = new Signalbox({ server: url, key: key.api_key });
  const visits: TerminalVisit[] = [];
  for (let count = 0; count < VISITS; count += 1) visits.push(await visit(operator, admin, routerId, typedMs / VISITS));
  return visits.slice(WARM_UPS);
}

async function visit(operator: Signalbox, admin: Signalbox, routerId: string, typedMs: number): Promise<TerminalVisit> {
  const begun = performance.now();
  const { data: opened } = await operator.call('openTerminal', {
    path: { router_id: routerId },
    body: { level: 'read', reason: 'a benchmark', cols: 80, rows: 24 },
  });
  const screen = new Listener(operator.attachTerminal(opened));
  await screen.shows('>');
  const promptMs = performance.now() - begun;
  const echoMs = await type(screen, typedMs);
  const asked = performance.now();
  await Promise.all([admin.call('endTerminal', { path: { terminal_id: opened.id } }), screen.ended]);
  return { promptMs, echoMs, endMs: performance.now() - asked };
}

async function type(screen: Listener, typedMs: number): Promise<number[]> {
  const times: number[] = [];
  const endAt = performance.now() + typedMs;
  for (let count = 0; performance.now() < endAt; count += 1) {
    // Two letters in turns, so that an echo that is late is not taken for the next one.
    const letter = count % 2 === 0 ? 'x' : 'y';
    const before = performance.now();
    screen.type(letter);
    await screen.shows(letter);
    times.push(performance.now() - before);
    if (count % LINE === LINE - 1) {
      screen.type(CTRL_U);
      await screen.shows('>');
    }
  }
  return times;
}

/** What a terminal prints, looked at as it comes. */
class Listener {
  /** Settles when the terminal says that it has ended. */
  readonly ended: Promise<unknown>;
  readonly #ws: WebSocket;
  #printed = '';

  constructor(ws: WebSocket) {
    this.#ws = ws;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#printed += data.toString('latin1');
      else if (data.toString().includes('"ended":true')) resolve();
    });
  }

  type(keys: string): void {
    this.#ws.send(Buffer.from(keys));
  }

  /** Settles when the text has come since the last call. @throws Error when the connection breaks */
  async shows(text: string): Promise<void> {
    while (!this.#printed.includes(text)) {
      if (this.#ws.readyState > this.#ws.OPEN) throw new Error('the terminal has ended early');
      await once(this.#ws, 'message');
    }
    this.#printed = '';
  }
}
