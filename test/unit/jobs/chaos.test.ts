import { afterEach, describe, expect, it } from 'vitest';
import type { JournalDisk } from '../../../agent/jobs/journal/disk.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { migrate } from '../../../server/platform/storage/migrate.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { runChaos } from '../../harness/jobs/chaos.ts';
import { silentLog } from '../../harness/silent-log.ts';

/**
 * Control plane and agents joined in one process by tunnels that break, with routers that remember what really ran.
 * Processes are killed at every step, disks restored, wiped and filled, routers rebooted. test/chaos has the longer form.
 */

/** A journal that does not keep BEGIN: after a crash it looks as if the job had never begun. */
function withoutBegin(disk: JournalDisk): JournalDisk {
  return {
    read: () => disk.read(),
    truncate: (bytes) => disk.truncate(bytes),
    append: (line) => (line.includes('"t":"begin"') ? Promise.resolve() : disk.append(line)),
    replace: (content) => disk.replace(content),
    close: () => disk.close(),
  };
}

describe('jobs under faults', () => {
  const opened: Storage[] = [];

  async function open(): Promise<Storage> {
    const storage = await openStorage('sqlite::memory:', { log: silentLog });
    opened.push(storage);
    await migrate(storage);
    return storage;
  }

  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  it.each([1, 2, 3, 4, 5, 6])('are never lost, never run twice and never reported falsely (seed %i)', async (seed) => {
    const report = await runChaos(await open(), { seed, jobs: 150 });
    expect(report.violations).toEqual([]);
    expect(report).toMatchObject({ acknowledged: expect.toSatisfy((count: number) => count >= 150) });
    expect(Object.values(report.faults).reduce((sum, count) => sum + count)).toBeGreaterThan(50);
    expect(report.outcomes['completed']).toBeGreaterThan(50);
  });

  it.each([11, 12, 13])('run once even on routers that lose the run marker (seed %i)', async (seed) => {
    const report = await runChaos(await open(), { seed, jobs: 100, guards: { markers: false } });
    expect(report.violations).toEqual([]);
  });

  it.each([21, 22, 23, 24, 25, 26])('are undone or kept as reported under the undo guard (seed %i)', async (seed) => {
    const report = await runChaos(await open(), { seed, jobs: 100, guarded: 0.7 });
    expect(report.violations).toEqual([]);
    expect(report.outcomes['completed']).toBeGreaterThan(5);
    expect(report.outcomes['failed rolled_back']).toBeGreaterThan(2);
  });

  it('run twice without BEGIN in the journal and the marker on the router, which proves that the test detects it', async () => {
    const violations: string[] = [];
    for (let seed = 1; seed <= 40 && violations.length === 0; seed += 1) {
      const guards = { markers: false, disk: withoutBegin };
      const report = await runChaos(await open(), { seed, jobs: 100, guards, agentKills: 8 });
      violations.push(...report.violations.filter((violation) => /ran \d times$/.test(violation)));
    }
    expect(violations).not.toEqual([]);
  });
});
