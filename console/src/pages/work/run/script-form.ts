import type { JobDetail, NewCampaign, NewJob } from '../../../../../client/browser.ts';
import { numberOf } from '../../../parts/number-of.ts';

/** Longest script and description, characters: docs/interface.md, new job. */
export const SCRIPT_CHARS = 2000;
export const DESCRIPTION_CHARS = 100;
/** Seconds of an undo guard when nobody says otherwise: a slow router answers within them after its script. */
const GUARD_SECONDS = '120';

/** What the form holds; numbers as they were typed. */
export interface ScriptDraft {
  description: string;
  script: string;
  backup: boolean;
  /** auto: on when the script touches what can cut the router off. */
  guard: 'auto' | 'on' | 'off';
  guardSeconds: string;
  atOnce: boolean;
  awaitEnd: boolean;
  timeoutSeconds: string;
  deliverMinutes: string;
  notifyUrl: string;
  canaries: string;
  ratePerMinute: string;
  mostAtOnce: string;
  stopAtFailures: string;
  stopAtPercent: string;
}

export const EMPTY_DRAFT: ScriptDraft = {
  description: '',
  script: '',
  backup: true,
  guard: 'auto',
  guardSeconds: GUARD_SECONDS,
  atOnce: true,
  awaitEnd: true,
  timeoutSeconds: '',
  deliverMinutes: '',
  notifyUrl: '',
  canaries: '1',
  ratePerMinute: '60',
  mostAtOnce: '50',
  stopAtFailures: '3',
  stopAtPercent: '',
};

/** The script of a job that has been, to be run again. */
export function draftOf(job: JobDetail): ScriptDraft {
  return {
    ...EMPTY_DRAFT,
    description: job.description,
    script: job.script ?? '',
    backup: job.make_backup,
    guard: job.undo_unless_reachable_seconds === null ? 'off' : 'on',
    guardSeconds: String(job.undo_unless_reachable_seconds ?? GUARD_SECONDS),
    atOnce: job.express_execute,
    awaitEnd: job.needs_acknowledgement,
    timeoutSeconds: String(job.timeout_seconds),
    notifyUrl: job.notify_url ?? '',
  };
}

export function isGuarded({ guard }: Pick<ScriptDraft, 'guard'>, isRisky: boolean): boolean {
  return guard === 'on' || (guard === 'auto' && isRisky);
}

/** What both a job and a campaign take. The server checks the numbers; what is no number is sent as it is, so that its reason comes back. */
export function jobOf(draft: ScriptDraft, isRisky: boolean): NewJob {
  return {
    description: draft.description.trim(),
    script: draft.script,
    make_backup: draft.backup,
    express_execute: draft.atOnce,
    needs_acknowledgement: draft.awaitEnd,
    ...(isGuarded(draft, isRisky) ? { undo_unless_reachable_seconds: numberOf(draft.guardSeconds) } : {}),
    ...(draft.timeoutSeconds === '' ? {} : { timeout_seconds: numberOf(draft.timeoutSeconds) }),
    ...(draft.deliverMinutes === '' ? {} : { deliver_within_minutes: numberOf(draft.deliverMinutes) }),
    ...(draft.notifyUrl.trim() === '' ? {} : { notify_url: draft.notifyUrl.trim() }),
  };
}

export function campaignOf(draft: ScriptDraft, isRisky: boolean, routerIds: readonly string[]): NewCampaign {
  return {
    ...jobOf(draft, isRisky),
    router_ids: [...routerIds],
    canary_count: numberOf(draft.canaries),
    rate_per_minute: draft.ratePerMinute === '' ? null : numberOf(draft.ratePerMinute),
    most_at_once: numberOf(draft.mostAtOnce),
    abort_after_failures: draft.stopAtFailures === '' ? null : numberOf(draft.stopAtFailures),
    abort_at_percent: draft.stopAtPercent === '' ? null : numberOf(draft.stopAtPercent),
  };
}
