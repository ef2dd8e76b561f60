import { DefaultQueryExecutor } from 'kysely';
import { vi } from 'vitest';

/** How many statements run in this process while `work` does, of all databases and of transactions, without BEGIN and COMMIT. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const executed = vi.spyOn(DefaultQueryExecutor.prototype, 'executeQuery');
  try {
    await work();
    return executed.mock.calls.length;
  } finally {
    executed.mockRestore();
  }
}
