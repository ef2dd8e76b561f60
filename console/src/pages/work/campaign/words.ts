import type { Campaign, CampaignTarget } from '../../../../../client/browser.ts';
import { numberWords } from '../../../parts/sizes.ts';
import type { Work } from '../../../parts/work.ts';
import { countOf } from '../words.ts';

export const words = {
  campaigns: 'Campaigns',
  /** The record, in sentences about one that cannot be read. */
  campaign: 'campaign',
  head: {
    list: (routers: number) => `{started}, fixed list of ${countOf(routers, 'router')}`,
    started: (time: string) => `started ${time}`,
    noDescription: 'Without a description',
    goOn: 'Go on',
    pause: 'Pause',
    cancel: 'Cancel the campaign',
  },
  cancel: {
    title: 'Cancel this campaign?',
    cancel: 'Cancel the campaign',
    keep: 'Let it go on',
    what: (routers: number) =>
      `${countOf(routers, 'router')} ${routers === 1 ? 'gets' : 'get'} no job. Jobs that wait are taken back. Scripts that have begun go on to their end.`,
  },
  script: {
    title: 'Script',
    conditions: (hasBackup: boolean, guardSeconds: number | null) =>
      [hasBackup ? 'backup first' : 'no backup', guardSeconds === null ? 'no guard' : `guard ${guardSeconds} s`].join(', '),
  },
  stopRule: {
    title: 'Stops by itself',
    order: 'whichever comes first',
    canaries: (count: number) => (count === 1 ? 'when its canary fails' : `when one of ${count} canaries fails`),
    at: (failures: number) => `at ${failures} failed`,
    has: (failures: number) => `has ${failures}`,
    soFar: (failures: number) => `${failures} so far`,
    percent: (percent: number) => `at ${percent} % failed, from the fifth result on`,
    none: 'failures of the others do not stop it',
  },
  groups: {
    title: 'Said the same',
    count: (count: number) => countOf(count, 'group'),
    empty: 'No router has a result yet.',
    largest: (shown: number, all: number) => `The largest ${shown} of ${all} groups.`,
    nothing: 'printed nothing',
    more: (routers: number) => `and ${numberWords(routers)} more`,
  },
  matrix: {
    title: 'Targets',
    order: (count: string) => `${count}, in the order they run`,
    done: 'done',
    removed: 'a removed router',
    pointed: (router: string, state: string, reason: string) => `${router}: ${state}${reason === '' ? '' : `, ${reason}`}`,
    canaries: (count: number) =>
      count === 1 ? 'The canary stands apart, at the left.' : `The ${count} canaries stand apart, at the left.`,
    summary: (counts: readonly (readonly [state: string, count: number])[]) =>
      `Targets: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}`,
  },
  tally: {
    title: 'Routers by result',
    done: (percent: number) => `${percent} % of the list`,
    running: (most: number) => `at most ${most} under way`,
    haveJob: (count: number) => (count === 1 ? '1 has its job' : `${count} have their job`),
    noJob: 'no job yet',
    stopsAt: (failures: number) => `stops at ${failures}`,
    stopsNothing: 'stops nothing by number',
    unknown: 'counts as failed',
    expired: 'expired',
    neverRan: 'never ran',
    skipped: 'no job, or taken back',
  },
  targets: {
    underWay: 'Under way',
    waits: (length: string) => `waits ${length}`,
    notAsWished: 'Not as wished',
    more: (count: number) => `${numberWords(count)} more`,
    with: (result: string) => `Routers: ${result}`,
    close: 'Close',
    none: 'None.',
    canary: 'canary',
    removed: (id: string) => `removed router ${id}`,
  },
  waves: {
    title: 'Waves',
    order: 'the list in the order it runs',
    routers: 'Routers',
    when: 'When',
    results: 'Results',
    canaries: 'Canaries',
    stretch: (first: number, last: number) => (first === last ? `Router ${first}` : `Routers ${first} to ${last}`),
    neverStarted: 'never started',
    waits: 'waits',
    expected: (from: string, until: string) => `about ${from} to ${until}`,
    done: (count: number) => `${count} done`,
    underWay: (count: number) => `${count} under way`,
    notAsWished: (count: number) => `${count} not as wished`,
    wait: (count: number) => `${count} wait`,
    notRun: (count: number) => `${count} not run`,
  },
};

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
    .map((rest) => `, ${rest}`)
    .join('');
}
