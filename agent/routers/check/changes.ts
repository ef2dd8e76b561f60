import { toError } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import { GUARD_POLICIES } from '../../core/user-policies.ts';
import { dateFor } from '../../../routeros-text/clock.ts';
import type { Check, CheckContext, Finding } from './types.ts';

/** Checks that change something on the router and undo it. */

/** Adds an item and removes it. @throws AgentError with the router's refusal */
async function addAndRemove({ api, deadline }: CheckContext, menu: string, words: string[]): Promise<Finding> {
  if (!api) throw new AgentError('unsupported', 'no api');
  const { ret } = await api.command({ path: `${menu}/add`, words }, deadline);
  if (ret === undefined) throw new AgentError('internal', 'the router did not say what it added');
  try {
    await api.command({ path: `${menu}/remove`, words: [`=.id=${ret}`] }, deadline);
  } catch (error) {
    throw new AgentError('internal', `${menu} ${ret} was added and could not be removed: ${toError(error).message}`, { cause: error });
  }
  return { ok: true, detail: 'added and removed again' };
}

/**
 * Disabled and far in the future, so that it could not run even if it were left behind. The date has the version's format. With the policies of
 * an undo guard, because the router refuses an entry that may do more than the user who adds it.
 */
function schedulerWords({ nonce, facts }: CheckContext): string[] {
  const date = dateFor(facts?.softwareVersion ?? '', '2037-01-01');
  const policy = `=policy=${GUARD_POLICIES.join(',')}`;
  return [`=name=${nonce}`, `=start-date=${date}`, '=start-time=00:00:00', '=on-event=:put 1', policy, '=disabled=yes'];
}

const withApi = ({ api }: CheckContext): boolean => api !== undefined;

export const changeChecks: readonly Check[] = [
  {
    what: 'scripts',
    costs: 'jobs cannot run',
    applies: withApi,
    run: (context) => addAndRemove(context, '/system/script', [`=name=${context.nonce}`, '=source=:put 1', '=policy=read']),
  },
  {
    what: 'scheduler',
    costs: 'no undo guard, and forward rules stay if the agent is lost (device-mode may forbid it)',
    applies: withApi,
    run: (context) => addAndRemove(context, '/system/scheduler', schedulerWords(context)),
  },
  {
    what: 'forward rules',
    costs: 'no forwards by dst-nat',
    applies: withApi,
    run: (context) =>
      addAndRemove(context, '/ip/firewall/nat', ['=chain=dstnat', '=action=accept', `=comment=${context.nonce}`, '=disabled=yes']),
  },
];
