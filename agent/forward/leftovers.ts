import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { removeEntries } from './fail-safe.ts';
import { findMarked } from './nat-rules.ts';

const TIMEOUT_MS = 10_000;

/**
 * Removes what earlier runs of this agent left on a router: rules and scheduler entries that begin with its tag and
 * belong to no forward that is open now. Never rejects. @returns false when the router has to be tried again
 */
export async function removeLeftovers(
  router: RouterAdapter,
  agentTag: string,
  isOpen: (mark: string) => boolean,
  log: Log,
): Promise<boolean> {
  const deadline = { timeoutMs: TIMEOUT_MS };
  const isLeftover = (text: string): boolean => text.startsWith(`${agentTag}-`) && !isOpen(text.replace(/-boot$/, ''));
  try {
    const ids = await findMarked(router, isLeftover, deadline);
    if (ids.length > 0) {
      await router.command({ path: '/ip/firewall/nat/remove', words: [`=.id=${ids.join(',')}`] }, deadline);
      log.info({ router: router.name, count: ids.length }, 'rules of an earlier run were removed from the router');
    }
    await removeEntries(router, isLeftover, deadline);
    return true;
  } catch (error) {
    log.debug({ err: error, router: router.name }, 'the router could not be searched for leftovers');
    return false;
  }
}
