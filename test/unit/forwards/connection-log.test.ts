import { expect, test } from 'vitest';
import { AppError } from '../../../server/platform/core/errors.ts';
import { newId } from '../../../server/platform/core/ids.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { ConnectionLog } from '../../../server/work/forwards/connections/log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';

test('what the database does not take at the stop is lost with one line in the log, and not tried again', async () => {
  const [clock, log] = [new ManualClock(Date.parse('2031-05-01T12:00:00Z')), new RecordedLog()];
  let writes = 0;
  const storage = {
    writes: {
      write: () => {
        writes += 1;
        return Promise.reject(new AppError('unavailable', 'the database is being closed'));
      },
    },
  } as unknown as Storage;
  const connections = new ConnectionLog({ storage, clock, log, flushMs: 1000, open: () => [] });
  const now = clock.now();
  connections.connectionClosed(
    { teamId: newId(now), id: newId(now) },
    { id: newId(now), source: '192.0.2.1', openedAt: now, closedAt: now, bytesIn: 1, bytesOut: 2, endedBy: 'client' },
  );
  await connections.stop();
  const lost = (): number => log.lines.filter(({ message }) => message.startsWith('connections of forwards are lost')).length;
  expect(lost()).toBe(1);
  const written = writes;
  clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect([lost(), writes]).toEqual([1, written]);
});
