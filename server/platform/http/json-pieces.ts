import type { FastifyReply } from 'fastify';
import { nextTurn } from '../core/loop-turns.ts';

/** Records of one piece: some five milliseconds of work, 60 kB to 150 kB of JSON. */
const PIECE_RECORDS = 200;

/**
 * A JSON array, written in pieces with turns of the event loop between them.
 * @param present one item as it is answered
 * @param size items of one piece: fewer where each is long
 */
export async function inPieces<Item>(items: readonly Item[], present: (item: Item) => unknown, size = PIECE_RECORDS): Promise<string> {
  const pieces: string[] = [];
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await nextTurn();
    // Without the brackets of the array.
    pieces.push(JSON.stringify(items.slice(at, at + size).map(present)).slice(1, -1));
  }
  return `[${pieces.join(',')}]`;
}

/** Sends JSON that is written already. For the type of the route, which has that of what is written. */
export function sendJson(reply: FastifyReply, pieces: readonly string[]): never {
  return reply.type('application/json; charset=utf-8').serializer(String).send(pieces.join('')) as never;
}
