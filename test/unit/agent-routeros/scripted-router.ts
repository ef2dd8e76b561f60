import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { SentenceDecoder } from '../../../agent/routers/routeros-api/framing.ts';

/**
 * A router of a few lines: every sentence it receives goes to the test's own function, which answers with
 * exactly the bytes it likes.
 */

export interface Heard {
  /** The command: `/ip/address/print`. */
  command: string;
  words: string[];
  tag: string;
  /** Sends a sentence; `.tag` is added after the reply word. */
  reply(...words: string[]): void;
  socket: Socket;
}

export interface ScriptedRouter {
  port: number;
  heard: Heard[];
  sockets: Socket[];
  close(): Promise<void>;
}

/** Length prefix written out by the table of the API documentation, independently of the product's encoder. */
function prefix(length: number): number[] {
  if (length <= 0x7f) return [length];
  if (length <= 0x3fff) return [0x80 + Math.floor(length / 256), length % 256];
  if (length <= 0x1f_ffff) return [0xc0 + Math.floor(length / 65_536), Math.floor(length / 256) % 256, length % 256];
  return [0xe0, ...[16, 8, 0].map((shift) => (length >> shift) & 0xff)];
}

export function word(text: string | Buffer): Buffer {
  const body = Buffer.from(text as string);
  return Buffer.concat([Buffer.from(prefix(body.length)), body]);
}

export function sentence(...words: (string | Buffer)[]): Buffer {
  return Buffer.concat([...words.map(word), Buffer.of(0)]);
}

export async function startScriptedRouter(
  answer: (heard: Heard) => void,
  options: { tls?: TlsOptions; loginAlways?: boolean } = {},
): Promise<ScriptedRouter> {
  const heard: Heard[] = [];
  const sockets: Socket[] = [];
  const serve = (socket: Socket): void => {
    sockets.push(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    const decoder = new SentenceDecoder();
    const onSentence = (words: string[]): void => {
      const tag = words.find((each) => each.startsWith('.tag='))?.slice(5) ?? '';
      const one: Heard = {
        command: words[0] ?? '',
        words: words.slice(1).filter((each) => !each.startsWith('.tag=')),
        tag,
        socket,
        reply: (first, ...rest) => socket.write(sentence(first ?? '', `.tag=${tag}`, ...rest)),
      };
      heard.push(one);
      if (one.command === '/login' && options.loginAlways !== false) one.reply('!done');
      else answer(one);
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk, onSentence);
      } catch {
        // A client that speaks TLS to a plain port.
        socket.destroy();
      }
    });
  };
  const server: Server = options.tls ? createTlsServer(options.tls, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
