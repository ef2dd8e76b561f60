import { randomUUID } from 'node:crypto';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { JournalFile } from '../../../agent/jobs/journal/disk.ts';

/**
 * Run with the folder as its argument and a limit on the size of files: accepts jobs until the file is full, then
 * prints how many were accepted, how many the journal knows, whether a small one still fits, and how many a reopened
 * journal finds.
 */
const folder = process.argv[2]!;
const offer = (script: string) => ({
  job_id: randomUUID(),
  router: 'r',
  hardware_id: 'h',
  script,
  make_backup: false,
  needs_acknowledgement: true,
  timeout_ms: 1000,
});

const journal = await Journal.open(new JournalFile(folder));
let accepted = 0;
let isFull = false;
while (!isFull && accepted < 1000) {
  try {
    await journal.accept(offer('x'.repeat(1900)));
    accepted += 1;
  } catch {
    isFull = true;
  }
}
const known = journal.entries().length;
const smallFits = await journal.accept(offer('y')).then(
  () => true,
  () => false,
);
await journal.close();
const found = (await Journal.open(new JournalFile(folder))).entries().length;
process.stdout.write(JSON.stringify({ isFull, accepted, known, smallFits, found }));
