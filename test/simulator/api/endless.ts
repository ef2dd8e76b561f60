import type { Socket } from 'node:net';
import { encodeSentence } from './words.ts';

/** Endless answers of a router. */
export const ENDLESS = ['rows', 'traps', 'unasked', 'empty', 'sentence', 'word'] as const;
export type Endless = (typeof ENDLESS)[number];

/** One write: what a socket takes at once. */
const PIECE_BYTES = 64 * 1024;

/** Sends it as fast as the client reads, until the client has gone. */
export function pourEndless(socket: Socket, kind: Endless, tag: string): void {
  if (kind === 'word') socket.write(Buffer.of(0xe0, 0x60, 0x00, 0x00));
  const piece = pieceOf(kind, tag);
  const pour = (): void => {
    while (!socket.destroyed && socket.writable) {
      if (socket.write(piece)) continue;
      socket.once('drain', pour);
      return;
    }
  };
  pour();
}

function pieceOf(kind: Endless, tag: string): Buffer {
  switch (kind) {
    case 'rows':
      return repeated(encodeSentence(['!re', `.tag=${tag}`, '=.id=*1', '=name=ether1', '=comment=the same again']));
    case 'traps':
      return repeated(encodeSentence(['!trap', `.tag=${tag}`, '=message=no']));
    case 'unasked':
      return repeated(encodeSentence(['!re', '.tag=nobody', '=name=x']));
    case 'empty':
      return Buffer.alloc(PIECE_BYTES);
    case 'sentence':
      // Words without the one of length zero that would end them.
      return repeated(encodeSentence(['=name=value']).subarray(0, -1));
    case 'word':
      return Buffer.alloc(PIECE_BYTES, 'x');
  }
}

function repeated(bytes: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil(PIECE_BYTES / bytes.length) }, () => bytes));
}
