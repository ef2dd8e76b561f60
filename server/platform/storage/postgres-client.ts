import { DatabaseError } from 'pg';
import type { PoolClient, QueryResult } from 'pg';
import { AppError, LostCommit } from '../core/errors.ts';
import { storageUnavailable, typedStorageError } from './storage-errors.ts';

/** The connection was broken before the statement was sent. */
class NeverSent extends Error {}

type Ask = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

/**
 * Makes a new connection safe to lose, which a restart of the server does to all of them at any moment:
 * - its `error` event is heard also while it is checked out. pg-pool listens only to idle ones, and an unheard event ends the process;
 * - a query fails as {@link AppError}, and tells `unavailable` when the connection is the reason;
 * - a connection that has failed once is closed, so that the pool does not hand it out again.
 */
export function guardConnection(client: PoolClient): void {
  let isBroken = false;
  const broken = (): void => {
    isBroken = true;
  };
  client.on('error', broken);
  client.on('end', broken);
  const ask = client.query.bind(client) as unknown as Ask;
  const guarded: Ask = async (text, values) => {
    if (isBroken) throw storageUnavailable(new NeverSent('the connection to the database is broken'));
    try {
      return await ask(text, values);
    } catch (error) {
      if (!isConnectionError(error)) throw typedStorageError(error);
      broken();
      // Destroys the socket: an answer that comes late must not be taken for that of the next query.
      void (client as unknown as { end(): Promise<void> }).end().catch(() => undefined);
      throw storageUnavailable(error);
    }
  };
  client.query = guarded as unknown as typeof client.query;
}

/** pg throws plain errors without a code for a connection that broke or a server that stayed silent. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof DatabaseError) && !(error instanceof TypeError) && !(error instanceof RangeError);
}

/**
 * What a failed COMMIT means. The server's refusal, or a COMMIT that was never sent, says that nothing was stored. When the
 * connection broke before the answer came, nobody knows, and `unavailable` would invite the caller to do it twice.
 */
export function commitError(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return error;
  const isCertain = error.cause instanceof DatabaseError || error.cause instanceof NeverSent;
  return isCertain ? error : new LostCommit(error.cause);
}
