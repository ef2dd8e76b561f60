import { AppError } from '../../../platform/core/errors.ts';
import type { TerminalKey } from '../store.ts';
import type { Ending, Opener, TerminalRecord } from '../types.ts';

export const RIGHTS_LOST: Ending = { reason: 'rights_lost', message: 'its opener may no longer use it' };
export const RECORDING_FULL: Ending = { reason: 'recording_full', message: 'its recording is as long as it may be' };
export const SHELL_GONE: Ending = { reason: 'shell_gone', message: 'the agent no longer has the shell' };

/** Who holds the share of a terminal. */
export function holderOf({ team_id: party, router_id: member }: Pick<TerminalRecord, 'team_id' | 'router_id'>) {
  return { party, member };
}

export function hasEnded(): AppError {
  return new AppError('conflict', 'the terminal has ended');
}

export function isWrongTicket(): AppError {
  return new AppError('unauthenticated', 'the ticket is wrong, used or too old: ask for another one');
}

/** Names it in every statement. */
export function keyOf(record: TerminalRecord): TerminalKey {
  return { teamId: record.team_id, id: record.id };
}

/** Who opened it. */
export function openerOf(record: TerminalRecord): Opener {
  return {
    kind: record.opened_by_kind === 'user' ? 'user' : 'api_key',
    id: record.opened_by,
    teamId: record.team_id,
    ...(record.opened_via === null ? {} : { clientId: record.opened_via }),
    ...(record.signed_in_at === null ? {} : { signedInAt: record.signed_in_at }),
    source: record.source,
  };
}
