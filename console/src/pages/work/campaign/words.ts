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
  const never = `${campaign.counts.skipped} ${campaign.counts.skipped === 1 ? 'was' : 'were'} never started`;
  switch (state) {
    case 'running':
      return canaries === 'running'
        ? { strong: 'The canaries run.', weak: `${done}; the others wait for them.` }
        : { strong: 'It runs.', weak: `${done}${rule}.` };
    case 'paused':
      return { strong: 'It is paused.', weak: `${done}. Jobs that had begun go on.` };
    case 'stopped':
      return { strong: 'It stopped itself.', weak: `${stop ?? 'Too many failed'}. ${never}.` };
    case 'canceled':
      return { strong: 'It was canceled.', weak: `${done}; ${never}.` };
    case 'finished':
      return campaign.counts.completed === all
        ? { strong: 'It finished, every router is done.', weak: '' }
        : { strong: 'It finished.', weak: `${campaign.counts.completed} of ${all} done${restWords(failures, campaign.counts.deleted)}.` };
  }
}

function restWords(failures: number, canceled: number): string {
  return [...(failures === 0 ? [] : [`${failures} failed`]), ...(canceled === 0 ? [] : [`${canceled} canceled`])]
    .map((words) => `, ${words}`)
    .join('');
}
