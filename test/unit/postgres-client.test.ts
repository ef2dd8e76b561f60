import { EventEmitter } from 'node:events';
import { DatabaseError } from 'pg';
import type { PoolClient } from 'pg';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../server/platform/core/errors.ts';
import { commitError, guardConnection } from '../../server/platform/storage/postgres-client.ts';

/** A connection of pg whose queries end as the test says. */
class FakeClient extends EventEmitter {
  failure: Error | undefined;
  ended = 0;
  asked: string[] = [];

  query(text: string): Promise<unknown> {
    this.asked.push(text);
    return this.failure ? Promise.reject(this.failure) : Promise.resolve({ rows: [] });
  }

  end(): Promise<void> {
    this.ended += 1;
    return Promise.resolve();
  }
}

function guarded(): { client: FakeClient; ask: (text: string) => Promise<unknown> } {
  const client = new FakeClient();
  guardConnection(client as unknown as PoolClient);
  return { client, ask: (text) => client.query(text) };
}

function refusal(code: string): DatabaseError {
  return Object.assign(new DatabaseError('refused', 7, 'error'), { code });
}

describe('a connection to PostgreSQL', () => {
  test('handles its error while idle, and fails the next query without sending it', async () => {
    const { client, ask } = guarded();
    client.emit('error', new Error('terminating connection due to administrator command'));
    await expect(ask('select 1')).rejects.toMatchObject({ code: 'unavailable' });
    expect(client.asked).toEqual([]);
  });

  test('that broke during a query is closed and not reused', async () => {
    const { client, ask } = guarded();
    client.failure = new Error('Connection terminated unexpectedly');
    await expect(ask('select 1')).rejects.toMatchObject({ code: 'unavailable' });
    client.failure = undefined;
    await expect(ask('select 2')).rejects.toMatchObject({ code: 'unavailable' });
    expect([client.ended, client.asked]).toEqual([1, ['select 1']]);
  });

  test('stays usable after a rejected statement, and keeps its error', async () => {
    const { client, ask } = guarded();
    client.failure = refusal('42601');
    await expect(ask('selct')).rejects.toBe(client.failure);
    client.failure = refusal('40001');
    await expect(ask('select 1')).rejects.toMatchObject({ code: 'unavailable' });
    client.failure = undefined;
    await expect(ask('select 1')).resolves.toEqual({ rows: [] });
    expect(client.ended).toBe(0);
  });
});

describe('a COMMIT that fails', () => {
  const failureOf = async (prepare: (client: FakeClient) => void): Promise<unknown> => {
    const { client, ask } = guarded();
    prepare(client);
    return ask('commit').then(() => undefined, commitError);
  };

  test.each<[string, (client: FakeClient) => void, string]>([
    ['because the server refused it stored nothing', (client) => (client.failure = refusal('57P01')), 'unavailable'],
    ['before it was sent stored nothing', (client) => client.emit('end'), 'unavailable'],
    ['because the connection broke may have stored everything', (client) => (client.failure = new Error('ended')), 'outcome_unknown'],
  ])('%s', async (_what, prepare, code) => {
    const error = await failureOf(prepare);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code });
  });
});
