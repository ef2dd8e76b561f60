import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { CLEAN_UP_DEADLINE, removeFound } from './clean-up.ts';
import { findFailSafes, removeFailSafes } from './fail-safe.ts';
import { NAT, findMarked } from './nat-rules.ts';
import type { MarkedRule } from './nat-rules.ts';

/** `held`: what is left there waits for somebody, and for the router's own removal. */
export type SearchResult = 'searched' | 'held' | 'failed';

export interface LeftoverQuestions {
  isOpen: (forwardId: string) => boolean;
  /** Is it known to be over, rather than only not open at the moment? */
  isOver: (forwardId: string) => boolean;
}

/**
 * Removes what forwards that are over have left on a router: rules, scheduler entries and scripts that begin with this agent's
 * tag and belong to no forward that is open now. Rules that an administrator disabled stay, and their removal by the router
 * with them, until the forward is over: they are what keeps it from being opened again. Never rejects.
 */
export async function removeLeftovers(
  router: RouterAdapter,
  agentTag: string,
  { isOpen, isOver }: LeftoverQuestions,
  log: Log,
): Promise<SearchResult> {
  const prefix = `${agentTag}-`;
  const forwardOf = (text: string): string => text.slice(prefix.length).replace(/-boot$/, '');
  const isSuspect = (text: string): boolean => text.startsWith(prefix) && !isOpen(forwardOf(text));
  let held: ReadonlySet<string> = new Set();
  const isLeftover = (text: string): boolean => isSuspect(text) && !held.has(prefix + forwardOf(text));
  const findRules = async (): Promise<string[]> => {
    const rules = await findMarked(router, isSuspect, CLEAN_UP_DEADLINE);
    held = await findHeld(
      router,
      rules.filter(({ disabled, mark }) => disabled && !isOver(forwardOf(mark))),
    );
    return rules.filter(({ mark }) => isLeftover(mark)).map(({ id }) => id);
  };
  try {
    const count = await removeFound(router, NAT, findRules, CLEAN_UP_DEADLINE);
    if (count > 0) log.info({ router: router.name, count }, 'rules of forwards that are over were removed from the router');
    await removeFailSafes(router, isLeftover, CLEAN_UP_DEADLINE);
    return held.size > 0 ? 'held' : 'searched';
  } catch (error) {
    log.debug({ err: error, router: router.name }, 'the router could not be searched for leftovers');
    return 'failed';
  }
}

/** Their marks, as far as the router will remove them by itself. */
async function findHeld(router: RouterAdapter, disabled: readonly MarkedRule[]): Promise<ReadonlySet<string>> {
  if (disabled.length === 0) return new Set();
  const isTheirs = (name: string): boolean => disabled.some(({ mark }) => mark === name);
  return new Set(await findFailSafes(router, isTheirs, CLEAN_UP_DEADLINE));
}
