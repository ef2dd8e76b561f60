import type { Campaign, CampaignTarget } from '../../../../../client/browser.ts';
import type { Work } from '../../../parts/work.ts';

type Counted = Pick<Campaign, 'counts'>;

/** Routers with a result that stops a campaign: what nobody knows counts as a failure, too. */
export function failuresOf({ counts }: Counted): number {
  return counts.failed + counts.expired + counts.unknown;
}

export function settledOf({ counts }: Counted): number {
  return counts.completed + counts.failed + counts.expired + counts.unknown + counts.deleted;
}

export function workOfTarget({ status, reason }: Pick<CampaignTarget, 'status' | 'reason'>): Work {
  if (reason === 'rolled_back') return 'rolled_back';
  const works: Record<CampaignTarget['status'], Work> = {
    waiting: 'waiting',
    pending: 'waiting',
    running: 'running',
    completed: 'done',
    failed: 'failed',
    expired: 'expired',
    unknown: 'unknown',
    deleted: 'canceled',
    skipped: 'skipped',
  };
  return works[status];
}

export function workOfCampaign(campaign: Campaign): Work {
  const works: Record<Campaign['state'], Work> = {
    running: 'running',
    paused: 'waiting',
    stopped: 'failed',
    canceled: 'canceled',
    finished: 'done',
  };
  return works[campaign.state];
}

export function stateWord({ state }: Pick<Campaign, 'state'>): string {
  return state === 'stopped' ? 'stopped itself' : state;
}

/** What the campaign does now, in a sentence. */
export function campaignSentence(campaign: Campaign): { strong: string; weak: string } {
  const { state, target_count: all, canaries, abort_after_failures: most, stop_message: stop } = campaign;
  const failures = failuresOf(campaign);
  const done = `${settledOf(campaign)} of ${all} have a result`;
  const rule = most === null ? '' : `, it would stop at ${most} failed and has ${failures}`;
  switch (state) {
    case 'running':
      return canaries === 'running'
        ? { strong: 'The canaries run.', weak: `${done}; the others wait for them.` }
        : { strong: 'It runs.', weak: `${done}${rule}.` };
    case 'paused':
      return { strong: 'It is paused.', weak: `${done}. Jobs that had begun go on.` };
    case 'stopped':
      return { strong: 'It stopped itself.', weak: `${stop ?? 'Too many failed'}. ${campaign.counts.skipped} were never started.` };
    case 'canceled':
      return { strong: 'It was canceled.', weak: `${done}; ${campaign.counts.skipped} were never started.` };
    case 'finished':
      return failures === 0
        ? { strong: 'Finished, every router is done.', weak: '' }
        : { strong: 'Finished.', weak: `${campaign.counts.completed} of ${all} done, ${failures} not as wished.` };
  }
}
