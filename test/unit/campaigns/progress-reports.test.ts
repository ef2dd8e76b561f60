import { expect, test } from 'vitest';
import { ProgressReports, REPORT_EVERY_MS } from '../../../server/work/campaigns/progress/reports.ts';
import type { CampaignView } from '../../../server/work/campaigns/types.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const KEY = { id: 'campaign', teamId: 'north' };

function start(read?: () => Promise<CampaignView>) {
  const clock = new ManualClock();
  const published: { at: number; completed: number }[] = [];
  const figures = { completed: 0 };
  const view = (): CampaignView => ({ campaign: { state: 'running' }, counts: { ...figures }, canaries: 'none' }) as CampaignView;
  const reports = new ProgressReports({
    clock,
    log: silentLog,
    read: read ?? (() => Promise.resolve(view())),
    publish: ({ counts }) => published.push({ at: clock.monotonic(), completed: counts.completed }),
  });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 10) {
      clock.advance(10);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    }
  };
  return { clock, published, figures, view, reports, pass };
}

test('the first report comes at once, the next ones a second apart, and the last one has the last figures', async () => {
  const { published, figures, reports, pass } = start();
  for (figures.completed = 1; figures.completed <= 300; figures.completed += 1) {
    reports.note(KEY);
    await pass(10);
  }
  figures.completed = 300;
  reports.note(KEY);
  await pass(2 * REPORT_EVERY_MS);
  expect(published.length).toBeGreaterThanOrEqual(4);
  expect(published[0]!.at).toBeLessThan(50);
  expect(published.at(-1)!.completed).toBe(300);
  for (const [index, { at }] of published.entries()) {
    if (index > 0) expect(at - published[index - 1]!.at).toBeGreaterThanOrEqual(REPORT_EVERY_MS);
  }
  await reports.stop();
});

test('figures that have not changed are not reported again', async () => {
  const { published, reports, pass } = start();
  for (let turn = 0; turn < 5; turn += 1) {
    reports.note(KEY);
    await pass(REPORT_EVERY_MS);
  }
  expect(published).toHaveLength(1);
  await reports.stop();
});

test('what changes while a report is read is in the next one, however long reading takes', async () => {
  const turns: (() => void)[] = [];
  let reads = 0;
  const { published, figures, view, reports, pass } = start(async () => {
    const seen = view();
    reads += 1;
    await new Promise<void>((resolve) => turns.push(resolve));
    return seen;
  });
  reports.note(KEY);
  await pass(20);
  figures.completed = 7;
  reports.note(KEY);
  await pass(3 * REPORT_EVERY_MS);
  expect(reads).toBe(1);
  turns.shift()!();
  await pass(REPORT_EVERY_MS + 20);
  turns.shift()!();
  await pass(20);
  expect(published.map(({ completed }) => completed)).toEqual([0, 7]);
  expect(published[1]!.at - published[0]!.at).toBeGreaterThanOrEqual(REPORT_EVERY_MS);
  await reports.stop();
});

test('a report that cannot be read is tried again after the next change, and the stop waits for one that is read', async () => {
  let fails = true;
  const { published, view, reports, pass } = start(async () => {
    if (fails) throw new Error('the database is away');
    return view();
  });
  reports.note(KEY);
  await pass(20);
  expect(published).toEqual([]);
  fails = false;
  reports.note(KEY);
  await pass(20);
  expect(published).toHaveLength(1);
  reports.note(KEY);
  await reports.stop();
  await pass(2 * REPORT_EVERY_MS);
  expect(published).toHaveLength(1);
});
