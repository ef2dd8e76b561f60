import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { waitUntil } from './wait-until.ts';

export interface OpenedTerminal {
  id: string;
  ticket: string;
  attach_path: string;
}

/** A terminal as a page sees it: bytes as text, messages as objects. */
export class TerminalClient {
  readonly ws: WebSocket;
  /** Everything printed since the attachment. */
  screen = '';
  bytes = 0;
  readonly messages: Record<string, unknown>[] = [];
  closed: { code: number; reason: string } | undefined;
  /** HTTP status of a refused upgrade. */
  refused: number | undefined;

  constructor(baseUrl: string, path: string, ticket: string) {
    const url = `${baseUrl.replace(/^http/, 'ws')}${path}`;
    this.ws = new WebSocket(url, ['signalbox.terminal.v1', `signalbox.ticket.${ticket}`]);
    this.ws.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) {
        this.messages.push(JSON.parse(data.toString()) as Record<string, unknown>);
        return;
      }
      this.bytes += data.length;
      this.screen += data.toString('utf8');
    });
    this.ws.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    this.ws.on('unexpected-response', (_request, response) => {
      this.refused = response.statusCode ?? 0;
      response.resume();
    });
    this.ws.on('error', () => undefined);
  }

  static async attach(baseUrl: string, { attach_path: path, ticket }: OpenedTerminal): Promise<TerminalClient> {
    const client = new TerminalClient(baseUrl, path, ticket);
    await waitUntil('the WebSocket is open or refused', async () => (client.ws.readyState === client.ws.OPEN ? true : client.refused));
    return client;
  }

  type(text: string): void {
    this.ws.send(Buffer.from(text));
  }

  resize(cols: number, rows: number): void {
    this.ws.send(JSON.stringify({ resize: { cols, rows } }));
  }

  /** The screen without colours. */
  get plain(): string {
    // oxlint-disable-next-line no-control-regex
    return this.screen.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  }

  async sees(text: string | RegExp): Promise<void> {
    const found = (): boolean => (typeof text === 'string' ? this.plain.includes(text) : text.test(this.plain));
    await waitUntil(`the screen shows ${String(text)}`, async () => (found() ? true : undefined)).catch((error: unknown) => {
      throw new Error(`the screen shows:\n${this.plain.slice(-2000)}\nmessages: ${JSON.stringify(this.messages)}`, { cause: error });
    });
  }

  /** The message that the terminal has ended. */
  async ending(): Promise<Record<string, unknown>> {
    return waitUntil('the terminal says that it has ended', async () => this.messages.find((message) => 'ended' in message));
  }

  async close(): Promise<void> {
    this.ws.terminate();
    await sleep(0);
  }
}
