import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uptimeSpanIn } from '../../../agent/core/router-uptime.ts';
import { secondsLeft, tickSource } from '../../../agent/jobs/guard/timing.ts';
import { startSimulator } from '../../simulator/index.ts';

describe('the time of an undo guard', () => {
  it.each([
    // armed at, allowed, uptime, left
    [1000, 60, 1000, 60],
    [1000, 60, 1059, 1],
    [1000, 60, 1060, 0],
    [1000, 60, 1090, -30],
    // After a reboot the allowed time counts from the boot.
    [1000, 60, 0, 60],
    [1000, 60, 61, -1],
  ])('armed at %i s for %i s, at an uptime of %i s has %i s left', (armedAt, allowed, uptime, left) => {
    expect(secondsLeft({ armedAt, allowed }, uptime)).toBe(left);
  });

  it('ends after twice the allowed time at the latest, counted from a reboot', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.integer({ min: 30, max: 3600 }), (armedAt, allowed) => {
        const uptimes = Array.from({ length: 2 * allowed + 1 }, (_, uptime) => uptime);
        expect(uptimes.some((uptime) => secondsLeft({ armedAt, allowed }, uptime) <= 0)).toBe(true);
      }),
    );
  });

  it('is read back from the source of its entry, and from no other source', () => {
    fc.assert(
      fc.property(fc.nat(100_000_000), fc.integer({ min: 30, max: 3600 }), (armedAt, allowed) => {
        expect(uptimeSpanIn(tickSource('guard', 'flash/x.backup', { armedAt, allowed }))).toEqual({ armedAt, allowed });
      }),
    );
    for (const other of ['', 'backup-script', ':if ($signalboxUptime < 1) do={}']) expect(uptimeSpanIn(other)).toBeUndefined();
  });

  it.each(['6.49.10', '7.18.2'])('is computed by the entry on RouterOS %s', async (version) => {
    const router = await startSimulator({ version, apiPort: null, sshPort: null, uptimeMs: 100_000_000 });
    const session = router.router.ownSession({ user: 'admin', policies: router.router.policiesOf('admin'), origin: 'console' });
    const isDue = async (armedAt: number, allowed: number): Promise<boolean> => {
      const table = router.router.table('/system/scheduler');
      table.add([['name', 'guard']]);
      const { error } = await router.router.scripts.run(
        tickSource('guard', 'flash/x.backup', { armedAt, allowed }),
        session,
        () => undefined,
      );
      expect(error).toBeUndefined();
      // Without a restore point the entry removes itself.
      const isGone = table.find('name', 'guard') === undefined;
      table.clear();
      return isGone;
    };
    // An uptime of 1d03:46:40.
    expect(await isDue(99_990, 60)).toBe(false);
    expect(await isDue(99_940, 60)).toBe(true);
    expect(await isDue(200_000, 3600)).toBe(true);
    expect(await isDue(200_000, 100_100)).toBe(false);
    session.end();
    await router.close();
  });
});
