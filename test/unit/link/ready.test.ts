import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readyMessages } from '../../../agent/link/ready.ts';
import { decodeAgentMessage, encodeMessage, MAX_MESSAGE_BYTES, MAX_OPEN_JOBS_PER_AGENT } from '../../../protocol/index.ts';
import type { OpenJob } from '../../../protocol/index.ts';

const ended = (output: string): OpenJob => ({
  job_id: randomUUID(),
  state: 'ended',
  result: { outcome: 'completed', reason: null, error: null, output, output_truncated: false },
});

test('a short list fits completely', () => {
  const jobs: OpenJob[] = [
    { job_id: randomUUID(), state: 'accepted' },
    { job_id: randomUUID(), state: 'begun' },
    { job_id: randomUUID(), state: 'refused' },
    ended('done'),
  ];
  const journalId = randomUUID();
  expect(readyMessages(4, journalId, jobs)).toEqual({ ready: { type: 'ready', epoch: 4, journal_id: journalId, jobs }, results: [] });
});

test('results that do not fit are listed as begun and follow separately; every message is within the limit', () => {
  const jobs = Array.from({ length: MAX_OPEN_JOBS_PER_AGENT }, (_, index) =>
    ended(index % 100 === 0 ? '\u0001'.repeat(65_536) : 'x'.repeat(300)),
  );
  const { ready, results } = readyMessages(1, randomUUID(), jobs);
  expect(Buffer.byteLength(encodeMessage(ready))).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
  expect(decodeAgentMessage(encodeMessage(ready)).kind).toBe('message');
  expect(ready.jobs.map((job) => job.job_id)).toEqual(jobs.map((job) => job.job_id));
  const begun = ready.jobs.filter((job) => job.state === 'begun').map((job) => job.job_id);
  expect(results.map((result) => result.job_id)).toEqual(begun);
  for (const result of results) expect(Buffer.byteLength(encodeMessage(result))).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
});
