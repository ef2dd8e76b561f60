import { DatabaseError } from 'pg';
import type { PoolClient, QueryResult } from 'pg';
import { AppError, LostCommit } from '../core/errors.ts';
import { storageUnavailable, typedStorageError } from './storage-errors.ts';

/** The connection was broken before the statement was sent. */
class NeverSent extends Error {}

type Ask = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

/**
 * Makes the loss of a connection safe; a restart of the server breaks all of them:
 * - handles its `error` event also while it is checked out. pg-pool listens only to idle ones, and an unhandled event ends the process;
 * - a query fails with an {@link AppError}, `unavailable` when the connection is the reason;
 * - closes a connection that has failed once, so that the pool does not reuse it.
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
      // Destroys the socket: a late response must not be taken for that of the next query.
      void (client as unknown as { end(): Promise<void> }).end().catch(() => undefined);
      throw storageUnavailable(error);
    }
  };
  client.query = guarded as unknown as typeof client.query;
}

/** pg throws plain errors without a code for a broken connection or an unresponsive server. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof DatabaseError) && !(error instanceof TypeError) && !(error instanceof RangeError);
}

/**
 * Classifies a failed COMMIT. When the server rejects it, or it was never sent, nothing was stored. When the connection broke
 * before the response, the outcome is unknown, and `unavailable` would invite the caller to repeat the change.
 */
export function commitError(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'unavailable') return error;
  const isCertain = error.cause instanceof DatabaseError || error.cause instanceof NeverSent;
  return isCertain ? error : new LostCommit(error.cause);
}
