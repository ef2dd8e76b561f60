import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';

/** A mail of the demo is a few kilobytes. */
const MOST_BYTES = 1_000_000;

/**
 * A mail server of the demo that keeps each mail as a file, so that there is something to look at. It speaks as much SMTP (RFC 5321) as a
 * client needs that sends one mail after the other, and listens on this machine only.
 */
export class MailFolder {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = net.createServer((socket) => this.#serve(socket));
  }

  /** @throws when the port is in use */
  static async start(folder: string, port: number): Promise<MailFolder> {
    await mkdir(folder, { recursive: true });
    const mails = new MailFolder(folder);
    // Ctrl-C may come before anybody has it who could close it, and must not leave a demo that lives for its mails alone.
    mails.#server.unref();
    mails.#server.listen(port, '127.0.0.1');
    await once(mails.#server, 'listening');
    return mails;
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // The client has gone; it sends again what got no answer.
    socket.on('error', () => socket.destroy());
    const session = new Session((mail) => this.#keep(mail));
    socket.setEncoding('latin1');
    socket.write('220 demo\r\n');
    let turn = Promise.resolve();
    socket.on('data', (text: string) => {
      turn = turn.then(async () => {
        for (const answer of await session.take(text)) socket.write(`${answer}\r\n`);
        if (session.isOver) socket.end();
      });
    });
  }

  /** Named by time, so that a list has them in their order. */
  async #keep(mail: string): Promise<void> {
    this.#count += 1;
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${String(this.#count).padStart(4, '0')}-${randomUUID().slice(0, 8)}.eml`;
    await writeFile(path.join(this.#folder, name), mail, 'latin1');
  }
}

/** One connection: commands in, answers out. */
class Session {
  readonly #keep: (mail: string) => Promise<void>;
  #rest = '';
  #isData = false;
  #hasSender = false;
  #hasReceiver = false;
  isOver = false;

  constructor(keep: (mail: string) => Promise<void>) {
    this.#keep = keep;
  }

  async take(text: string): Promise<string[]> {
    this.#rest += text;
    const answers: string[] = [];
    while (!this.isOver) {
      const answer = this.#isData ? await this.#takeMail() : this.#takeLine();
      if (answer === undefined) break;
      answers.push(answer);
    }
    if (this.#rest.length > MOST_BYTES) {
      this.isOver = true;
      answers.push('552 too large');
    }
    return answers;
  }

  /** @returns undefined until the mail is there to its final dot */
  async #takeMail(): Promise<string | undefined> {
    const whole = `\r\n${this.#rest}`;
    const end = whole.indexOf('\r\n.\r\n');
    if (end < 0) return undefined;
    this.#rest = whole.slice(end + 5);
    this.#isData = false;
    this.#begin();
    // A line that begins with a dot comes with a second one.
    await this.#keep(`${whole.slice(2, end).replaceAll('\r\n..', '\r\n.')}\r\n`);
    return '250 kept';
  }

  /** @returns undefined until the line is complete */
  #takeLine(): string | undefined {
    const end = this.#rest.indexOf('\r\n');
    if (end < 0) return undefined;
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 2);
    return this.#answerTo(line.split(/[ :]/, 1)[0]!.toUpperCase());
  }

  #answerTo(verb: string): string {
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        this.#begin();
        return '250 demo';
      case 'MAIL':
        this.#hasSender = true;
        return '250 ok';
      case 'RCPT':
        if (!this.#hasSender) return '503 MAIL first';
        this.#hasReceiver = true;
        return '250 ok';
      case 'DATA':
        if (!this.#hasReceiver) return '503 RCPT first';
        this.#isData = true;
        return '354 end with a dot';
      case 'RSET':
        this.#begin();
        return '250 ok';
      case 'NOOP':
        return '250 ok';
      case 'QUIT':
        this.isOver = true;
        return '221 bye';
      default:
        return '502 not known here';
    }
  }

  #begin(): void {
    this.#hasSender = false;
    this.#hasReceiver = false;
  }
}
