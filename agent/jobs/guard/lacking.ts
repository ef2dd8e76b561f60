import { AgentError } from '../../core/errors.ts';
import { GUARD_POLICIES, grantLine, readPoliciesOf } from '../../core/user-policies.ts';
import { lacksPolicies } from '../../../routeros-text/refusals.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';

/**
 * Why a guard could not be armed, for people. A router that refuses for lack of a policy does not say which: this reads the agent's own user
 * and names what is missing, and the line that grants it.
 * @returns the router's own words where they say more, or where the user cannot be read
 */
export async function whyNotArmed(router: RouterAdapter, error: AgentError, deadline: Deadline): Promise<string> {
  if (!lacksPolicies(error.message)) return error.message;
  const needed = `the agent's user needs the policies ${GUARD_POLICIES.join(',')}`;
  const own = await ownPolicies(router, deadline);
  if (!own) return `${error.message}: ${needed}`;
  const missing = GUARD_POLICIES.filter((policy) => !own.policies.has(policy));
  if (missing.length === 0) return `${error.message}: ${needed}`;
  const are = missing.length === 1 ? 'policy' : 'policies';
  return `the agent's user lacks the ${are} ${missing.join(',')}; on the router: ${grantLine(own, missing)} (it said: ${error.message})`;
}

/** Undefined where the router does not say: the refusal itself is told then. */
async function ownPolicies(router: RouterAdapter, deadline: Deadline): ReturnType<typeof readPoliciesOf> {
  if (router.user === undefined) return undefined;
  return readPoliciesOf((command, limit) => router.command(command, limit), router.user, deadline).catch(() => undefined);
}
