import { expect, test } from 'vitest';
import { hearOfWork } from '../../../server/compose/wires/work-elsewhere.ts';
import type { EventType } from '../../../server/outbound/events/types.ts';
import { Listeners } from '../../../server/platform/core/listeners.ts';
import type { JobsService } from '../../../server/work/jobs/service.ts';

/** @returns the jobs and campaigns that an event of another control plane wakes */
function wakenBy(type: EventType, data: object): string[] {
  const waken: string[] = [];
  const elsewhere = new Listeners<string>();
  elsewhere.subscribe((jobId) => waken.push(jobId));
  const jobs = { changes: { elsewhere } } as unknown as Pick<JobsService, 'changes'>;
  const campaigns = { changedElsewhere: (teamId: string, id: string) => void waken.push(`${teamId}: ${id}`) };
  hearOfWork({ teamId: 'team', type, data: JSON.stringify(data) }, { jobs, campaigns });
  return waken;
}

test('an event of a job wakes who waits for it', () => {
  expect(wakenBy('job.completed', { job_id: 'j', idempotency_key: null })).toEqual(['j']);
  expect(wakenBy('job.completed', { job_id: 'j' })).toEqual(['j']);
});

test('a change of a campaign wakes it, its progress does not', () => {
  expect(wakenBy('campaign.resumed', { campaign_id: 'c' })).toEqual(['team: c']);
  expect(wakenBy('campaign.progress', { campaign_id: 'c' })).toEqual([]);
});

test('an event of another form wakes nobody and is no error', () => {
  expect(wakenBy('job.completed', {})).toEqual([]);
  expect(wakenBy('job.completed', { job_id: 7 })).toEqual([]);
  expect(wakenBy('campaign.resumed', { id: 'c' })).toEqual([]);
  expect(wakenBy('router.online', {})).toEqual([]);
});
