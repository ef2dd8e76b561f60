import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { CLEAN_UP_DEADLINE } from './clean-up.ts';
import { removeFailSafes } from './fail-safe.ts';
import { removeMarked } from './nat-rules.ts';

/**
 * Removes what forwards that are over have left on a router: rules, scheduler entries and scripts that begin with this agent's
 * tag and belong to no forward that is open now. Never rejects. @returns false when the router has to be tried again
 */
export async function removeLeftovers(
  router: RouterAdapter,
  agentTag: string,
  isOpen: (forwardId: string) => boolean,
  log: Log,
): Promise<boolean> {
  const prefix = `${agentTag}-`;
  const isLeftover = (text: string): boolean => text.startsWith(prefix) && !isOpen(text.slice(prefix.length).replace(/-boot$/, ''));
  try {
    const count = await removeMarked(router, isLeftover, CLEAN_UP_DEADLINE);
    if (count > 0) log.info({ router: router.name, count }, 'rules of forwards that are over were removed from the router');
    await removeFailSafes(router, isLeftover, CLEAN_UP_DEADLINE);
    return true;
  } catch (error) {
    log.debug({ err: error, router: router.name }, 'the router could not be searched for leftovers');
    return false;
  }
}
