import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalFile } from '../../../agent/jobs/journal/disk.ts';
import { lockFolder } from '../../../agent/jobs/journal/folder-lock.ts';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { decodeJournal, encodeRecord } from '../../../agent/jobs/journal/records.ts';
import type { JournalRecord, StoredOffer } from '../../../agent/jobs/journal/records.ts';
import type { JobResult } from '../../../protocol/index.ts';
import { Volume } from '../../harness/chaos/volume.ts';
import { DoubtfulDisk, MemoryDisk } from '../../harness/jobs/memory-disk.ts';

const boot = { at: 1000, uptime_seconds: 5 };
const completed: JobResult = { outcome: 'completed', reason: null, error: null, output: 'ok\n', output_truncated: false };

function offer(script = ':put 1'): StoredOffer {
  return {
    job_id: randomUUID(),
    router: 'r1',
    hardware_id: 'S1',
    script,
    make_backup: false,
    needs_acknowledgement: true,
    timeout_ms: 1000,
  };
}

describe('the job journal', () => {
  let disk: MemoryDisk;
  let journal: Journal;

  beforeEach(async () => {
    disk = new MemoryDisk();
    journal = await Journal.open(disk);
  });

  const reopen = (): Promise<Journal> => Journal.open(disk);

  it('remembers every step of a job over a restart', async () => {
    const job = offer();
    await journal.confirmEpoch(7);
    await journal.accept(job);
    expect((await reopen()).get(job.job_id)).toMatchObject({ offer: job, state: 'accepted' });
    await journal.begin(job.job_id, boot);
    expect((await reopen()).get(job.job_id)).toMatchObject({ state: 'begun', boot });
    await journal.end(job.job_id, completed);
    expect((await reopen()).get(job.job_id)).toMatchObject({ state: 'ended', result: completed, acked: false });
    await journal.acked(job.job_id);
    expect((await reopen()).get(job.job_id)).toMatchObject({ acked: true });
    await journal.cleaned(job.job_id);
    const last = await reopen();
    expect(last.entries()).toEqual([]);
    expect(last.id).toBe(journal.id);
    expect(last.lastEpoch).toBe(7);
  });

  it('knows a finished job for a while, without its output', async () => {
    const job = offer();
    await journal.accept(job);
    await journal.begin(job.job_id, boot);
    await journal.end(job.job_id, completed);
    await journal.acked(job.job_id);
    await journal.cleaned(job.job_id);
    expect((await reopen()).over(job.job_id)).toEqual({ ...completed, output: null, output_truncated: true });
  });

  it('lets a refused job be offered again', async () => {
    const job = offer();
    await journal.accept(job);
    await journal.refuse(job.job_id);
    await journal.acked(job.job_id);
    await journal.cleaned(job.job_id);
    await expect(journal.accept(job)).resolves.toBeUndefined();
  });

  it.each(['begin first', 'refuse first'])('lets either BEGIN or REFUSED happen, never both (%s)', async (order) => {
    const job = offer();
    await journal.accept(job);
    const steps = [() => journal.begin(job.job_id, boot), () => journal.refuse(job.job_id)];
    if (order === 'refuse first') steps.reverse();
    const [first, second] = await Promise.allSettled(steps.map((step) => step()));
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'not_allowed' } });
  });

  it('never lets a job begin twice', async () => {
    const job = offer();
    await journal.accept(job);
    await journal.begin(job.job_id, boot);
    const restarted = await reopen();
    await expect(restarted.begin(job.job_id, boot)).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('changes nothing while the disk is full, and continues afterwards', async () => {
    const job = offer();
    disk.full = true;
    await expect(journal.accept(job)).rejects.toMatchObject({ code: 'internal' });
    expect(journal.entries()).toEqual([]);
    disk.full = false;
    await journal.accept(job);
    expect((await reopen()).get(job.job_id)).toMatchObject({ state: 'accepted' });
  });

  it('opens on a full disk, so that results can still be reported', async () => {
    const job = offer();
    await journal.accept(job);
    disk.full = true;
    expect((await reopen()).get(job.job_id)).toMatchObject({ state: 'accepted' });
  });

  it.each([
    ['without a file', undefined],
    ['whose first line was torn', Buffer.from('0123')],
  ])('begins on a full disk %s, refuses every line, and continues when there is space', async (_what, content) => {
    disk = new MemoryDisk();
    disk.content = content;
    disk.full = true;
    const fresh = await Journal.open(disk);
    await expect(fresh.confirmEpoch(1)).rejects.toMatchObject({ code: 'internal' });
    expect([fresh.lastEpoch, disk.content]).toEqual([0, content]);
    disk.full = false;
    const job = offer();
    await fresh.confirmEpoch(2);
    await fresh.accept(job);
    const again = await reopen();
    expect(again).toMatchObject({ id: fresh.id, lastEpoch: 2 });
    expect(again.get(job.job_id)).toMatchObject({ state: 'accepted' });
  });

  it('is rewritten after the disk failed to flush, and continues', async () => {
    const [first, second, third] = [offer(), offer(), offer()];
    await journal.accept(first);
    const doubtful = new DoubtfulDisk(disk);
    journal = await Journal.open(doubtful);
    doubtful.fails = true;
    await expect(journal.accept(second)).rejects.toMatchObject({ code: 'internal' });
    await expect(journal.accept(third), 'still failing').rejects.toMatchObject({ code: 'internal' });
    doubtful.fails = false;
    await journal.accept(third);
    const ids = (await Journal.open(disk)).entries().map((entry) => entry.offer.job_id);
    expect(ids).toEqual([first.job_id, third.job_id]);
  });

  it('starts empty with another id when the control plane does not trust it', async () => {
    const before = journal.id;
    await journal.accept(offer());
    await journal.confirmEpoch(9);
    await journal.reset();
    expect(journal.id).not.toBe(before);
    const restarted = await reopen();
    expect(restarted).toMatchObject({ id: journal.id, lastEpoch: 0 });
    expect(restarted.entries()).toEqual([]);
  });

  it('stays small for any number of jobs', async () => {
    for (let n = 0; n < 1500; n += 1) {
      const job = offer(`:put "${'x'.repeat(1500)}"`);
      await journal.accept(job);
      await journal.begin(job.job_id, boot);
      await journal.end(job.job_id, completed);
      await journal.acked(job.job_id);
      await journal.cleaned(job.job_id);
    }
    expect(disk.content!.length).toBeLessThan(1.6 * 1024 * 1024);
    expect((await reopen()).entries()).toEqual([]);
  });

  it('drops a last line that was torn, and nothing else', async () => {
    const [kept, torn] = [offer(), offer()];
    await journal.accept(kept);
    const whole = disk.content!.length;
    await journal.accept(torn);
    disk.content = disk.content!.subarray(0, whole + 30);
    const restarted = await reopen();
    expect(restarted.entries().map((entry) => entry.offer)).toEqual([kept]);
    await restarted.accept(torn);
    expect((await reopen()).entries()).toHaveLength(2);
  });

  it('drops a last line of which blocks were never written', async () => {
    await journal.accept(offer());
    const whole = disk.content!.length;
    await journal.accept(offer());
    disk.content!.fill(0, whole + 10, whole + 40);
    expect((await reopen()).entries()).toHaveLength(1);
  });

  it.each([
    ['a flipped bit in a confirmed line', (content: Buffer): void => void (content[60]! ^= 1)],
    ['a flipped bit in the last line', (content: Buffer): void => void (content[content.length - 20]! ^= 1)],
    ['a missing line', (content: Buffer): void => void content.copy(content, 0, content.indexOf(10) + 1)],
  ])('stops with a clear message at %s', async (_what, damage) => {
    await journal.accept(offer());
    await journal.accept(offer());
    damage(disk.content!);
    await expect(reopen()).rejects.toThrow(/the job journal is damaged in line \d/);
  });

  it('recovers all confirmed lines after a power failure at any point', async () => {
    const steps = fc.array(fc.constantFrom('accept', 'begin', 'refused', 'end', 'acked', 'epoch'), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, fc.double({ min: 0, max: 1, noNaN: true }), async (names, cut) => {
        const disk = new MemoryDisk();
        const journal = await Journal.open(disk);
        const records = await appendAll(journal, disk, names);
        const at = Math.floor(disk.content!.length * cut);
        const recovered = decodeJournal(disk.content!.subarray(0, at)).records;
        expect(recovered).toEqual(records.slice(0, recovered.length));
        // No whole line is lost.
        const lines = disk.content!.subarray(0, at).filter((byte) => byte === 10).length;
        expect(recovered).toHaveLength(lines);
      }),
      { numRuns: 200 },
    );
  });
});

/** Does whatever of these is allowed at that point, and returns every line of the file. */
async function appendAll(journal: Journal, disk: MemoryDisk, names: string[]): Promise<JournalRecord[]> {
  const jobs: string[] = [];
  for (const [index, name] of names.entries()) {
    const id = jobs.at(-1) ?? randomUUID();
    const step: Promise<void> =
      name === 'accept'
        ? acceptNew(journal, jobs)
        : name === 'begin'
          ? journal.begin(id, boot)
          : name === 'refused'
            ? journal.refuse(id)
            : name === 'end'
              ? journal.end(id, completed)
              : name === 'acked'
                ? journal.acked(id)
                : journal.confirmEpoch(index + 1);
    await step.catch(() => undefined);
  }
  return decodeJournal(disk.content!).records;
}

async function acceptNew(journal: Journal, jobs: string[]): Promise<void> {
  const job = offer();
  await journal.accept(job);
  jobs.push(job.job_id);
}

describe('the journal file', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-journal-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('keeps appended lines and outlives its process', async () => {
    const job = offer('äöü ✓');
    const journal = await Journal.open(new JournalFile(folder));
    await journal.accept(job);
    await journal.close();
    const again = await Journal.open(new JournalFile(folder));
    expect(again.get(job.job_id)?.offer).toEqual(job);
    expect(again.id).toBe(journal.id);
    await again.close();
  });

  it('truncates a torn last line before it appends', async () => {
    const journal = await Journal.open(new JournalFile(folder));
    await journal.accept(offer());
    await journal.close();
    const file = path.join(folder, 'jobs.journal');
    await writeFile(file, Buffer.concat([await readFile(file), encodeRecord({ t: 'epoch', epoch: 3 }).subarray(0, 12)]));
    const again = await Journal.open(new JournalFile(folder));
    await again.confirmEpoch(4);
    await again.close();
    expect((await Journal.open(new JournalFile(folder))).lastEpoch).toBe(4);
  });

  it('ignores the partial file of an interrupted compaction', async () => {
    const journal = await Journal.open(new JournalFile(folder));
    await journal.confirmEpoch(2);
    await journal.close();
    await writeFile(path.join(folder, 'jobs.journal.new'), 'half a li');
    expect((await Journal.open(new JournalFile(folder))).lastEpoch).toBe(2);
  });

  it('is unchanged after a write that did not fit', async () => {
    // A limit on the size of files makes the kernel refuse as a full disk does, in the middle of a line.
    const program = path.join(import.meta.dirname, '../../harness/jobs/fill-journal.ts');
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -f 40; exec "$0" "$@"', process.execPath, program, folder]);
    const { isFull, accepted, known, smallFits, found } = JSON.parse(stdout) as Record<string, number | boolean>;
    expect(isFull).toBe(true);
    expect(known).toBe(accepted);
    expect(found).toBe(Number(accepted) + (smallFits === true ? 1 : 0));
  });

  it('refuses writes after it was closed', async () => {
    const journal = await Journal.open(new JournalFile(folder));
    await journal.close();
    await expect(journal.accept(offer())).rejects.toMatchObject({ code: 'internal' });
  });

  it('opens on a full disk, refuses what does not fit, and continues when there is space', async ({ skip }) => {
    const volume = await Volume.create(path.join(folder, 'small'), 1);
    try {
      if (!volume.canBeFilled) skip('a small disk cannot be mounted here');
      await (await Journal.open(new JournalFile(volume.folder))).close();
      await volume.fill();
      const lock = lockFolder(volume.folder);
      const journal = await Journal.open(new JournalFile(volume.folder, lock));
      await fillUp(journal);
      await expect(journal.accept(offer())).rejects.toMatchObject({ code: 'internal' });
      await volume.empty();
      const job = offer();
      await journal.accept(job);
      await journal.close();
      const again = await Journal.open(new JournalFile(volume.folder));
      expect(again.get(job.job_id)).toMatchObject({ state: 'accepted' });
      await again.close();
    } finally {
      await volume.remove();
    }
  });

  it('begins in a folder on a full disk, and continues when there is space', async ({ skip }) => {
    const volume = await Volume.create(path.join(folder, 'small'), 1);
    try {
      if (!volume.canBeFilled) skip('a small disk cannot be mounted here');
      await volume.fill();
      const journal = await Journal.open(new JournalFile(volume.folder));
      await expect(journal.confirmEpoch(1)).rejects.toMatchObject({ code: 'internal' });
      await volume.empty();
      await journal.confirmEpoch(2);
      await journal.close();
      const again = await Journal.open(new JournalFile(volume.folder));
      expect(again).toMatchObject({ id: journal.id, lastEpoch: 2 });
      await again.close();
    } finally {
      await volume.remove();
    }
  });

  it('belongs to one agent at a time', () => {
    const lock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(/another agent is using the state folder/);
    lock.release();
    lockFolder(folder).release();
  });
});

/** The last block of the file still has room for some lines. */
async function fillUp(journal: Journal): Promise<void> {
  for (let lines = 0; lines < 100; lines += 1) {
    try {
      await journal.accept(offer());
    } catch {
      return;
    }
  }
}
