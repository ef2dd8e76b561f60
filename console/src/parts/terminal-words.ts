import type { Terminal } from '../../../client/browser.ts';

const ENDS: Readonly<Record<string, string>> = {
  exited: 'the shell was left',
  closed: 'a person ended it',
  idle: 'nothing typed for ten minutes',
  expired: 'two hours are over',
  detached: 'nobody attached for five minutes',
  recording_full: 'the recording is full',
  router_lost: 'the router closed the connection',
  router_removed: 'the router was removed',
  agent_away: 'the agent was away for five minutes',
  agent_stopped: 'the agent was stopped',
  agent_revoked: 'the agent was revoked or replaced',
  shell_gone: 'the agent was restarted',
  rights_lost: 'its opener may no longer use it',
  not_opened: 'it could not be opened',
} satisfies Record<NonNullable<Terminal['end_reason']>, string>;

/** How it ended, in words. @param reason `end_reason` of the interface; an unknown one stays as it is */
export function endOf(reason: string): string {
  return ENDS[reason] ?? reason;
}

/** How a terminal is, in a few words. */
export function stateWords({ status, end_reason: reason, attached, away }: Terminal): string {
  if (status === 'ended') return reason === null ? 'ended' : `ended: ${endOf(reason)}`;
  if (away) return 'open, its agent is away';
  return attached ? 'open' : 'open, nobody attached';
}
