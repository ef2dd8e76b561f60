/** The plainest API client: sentences out, sentences in. Tests see every word the router sends. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ProtocolError, SentenceParser } from '../../simulator/api/sentence-parser.ts';
import { encodeSentence } from '../../simulator/api/words.ts';

const PATIENCE_MS = 10_000;

export class RawClient implements AsyncDisposable {
  readonly socket: Socket;
  /** Everything received and not yet taken. */
  readonly #received: string[][] = [];
  #closed = false;
  /** Set once the router has sent what no sentence can be made of. */
  fault: ProtocolError | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    const parser = new SentenceParser();
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#read(parser, chunk);
      this.#wakeAll();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#closed = true;
      this.#wakeAll();
    });
  }

  #read(parser: SentenceParser, chunk: Buffer): void {
    try {
      parser.push(chunk, (words) => this.#received.push(words));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.fault = error;
    }
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RawClient> {
    const socket = connect({ host, port });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Connected and logged in. */
  static async login(port: number, name = 'admin', password = '', host = '127.0.0.1'): Promise<RawClient> {
    const client = await RawClient.open(port, host);
    const answer = await client.talk('/login', `=name=${name}`, `=password=${password}`);
    if (answer.length !== 1) throw new Error(`login failed: ${answer.join(' | ')}`);
    return client;
  }

  send(...words: string[]): void {
    this.socket.write(encodeSentence(words));
  }

  /** The next sentence; rejects when the router has closed or stays silent. */
  async next(): Promise<string[]> {
    await this.#until(() => this.#received.length > 0 || this.#closed);
    const sentence = this.#received.shift();
    if (!sentence) throw new Error('the router closed the connection');
    return sentence;
  }

  /** Sends one sentence and takes everything up to its `!done` or `!fatal`. */
  async talk(...words: string[]): Promise<string[][]> {
    this.send(...words);
    const answer: string[][] = [];
    for (;;) {
      const sentence = await this.next();
      answer.push(sentence);
      if (sentence[0] === '!done' || sentence[0] === '!fatal') return answer;
    }
  }

  /** Rows of a print as plain objects. Throws the router's message when it refuses. */
  async rows(...words: string[]): Promise<Record<string, string>[]> {
    const answer = await this.talk(...words);
    const trap = answer.find(([word]) => word === '!trap');
    if (trap) throw new Error(trap.find((word) => word.startsWith('=message='))?.slice(9) ?? 'trap');
    return answer.filter(([word]) => word === '!re').map(([, ...rest]) => Object.fromEntries(rest.map(split)));
  }

  /** `=ret=` of a command. */
  async ret(...words: string[]): Promise<string> {
    const answer = await this.talk(...words);
    const trap = answer.find(([word]) => word === '!trap');
    if (trap) throw new Error(trap.find((word) => word.startsWith('=message='))?.slice(9) ?? 'trap');
    return (
      answer
        .at(-1)
        ?.find((word) => word.startsWith('=ret='))
        ?.slice(5) ?? ''
    );
  }

  /** Resolves when the router has ended the connection. */
  closed(): Promise<void> {
    return this.#until(() => this.#closed);
  }

  /** True when the router resets a new connection instead of serving it. */
  static async isRefused(port: number): Promise<boolean> {
    const socket = connect({ host: '127.0.0.1', port });
    const code = await new Promise<string>((resolve) => {
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('close', () => resolve(''));
      socket.on('connect', () => socket.write(encodeSentence(['/login', '=name=admin', '=password='])));
      socket.on('data', () => resolve('served'));
    });
    socket.destroy();
    return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE' || code === '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#news();
  }

  /** Resolves at the next thing that happens on the connection. */
  #news(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nothing came from the router')), PATIENCE_MS);
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}

function split(word: string): [string, string] {
  const cut = word.indexOf('=', 1);
  return [word.slice(1, cut), word.slice(cut + 1)];
}
