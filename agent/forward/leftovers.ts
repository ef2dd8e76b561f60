import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { CLEAN_UP_DEADLINE, removeFound } from './clean-up.ts';
import { findFailSafes, markOfFailSafe, removeFailSafes } from './fail-safe.ts';
import { NAT, findMarked } from './nat-rules.ts';
import type { MarkedRule } from './nat-rules.ts';

/** `held`: disabled rules stay until somebody enables or removes them, or the router's fail-safe removes them. */
export type SearchResult = 'searched' | 'held' | 'failed';

export interface LeftoverQuestions {
  isOpen: (forwardId: string) => boolean;
  /** True when the forward is known to be over, not merely closed at the moment. */
  isOver: (forwardId: string) => boolean;
}

/**
 * Removes leftovers of closed forwards from a router: rules, scheduler entries and scripts that begin with this agent's tag and
 * belong to no open forward. Rules that an administrator disabled stay with their fail-safe until the forward is over, because
 * they prevent it from being opened again. Never rejects.
 */
export async function removeLeftovers(
  router: RouterAdapter,
  agentTag: string,
  { isOpen, isOver }: LeftoverQuestions,
  log: Log,
): Promise<SearchResult> {
  const prefix = `${agentTag}-`;
  const forwardOf = (text: string): string => markOfFailSafe(text).slice(prefix.length);
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
    if (count > 0) log.info({ router: router.name, count }, 'rules of closed forwards were removed from the router');
    await removeFailSafes(router, isLeftover, CLEAN_UP_DEADLINE);
    return held.size > 0 ? 'held' : 'searched';
  } catch (error) {
    log.debug({ err: error, router: router.name }, 'the router could not be searched for leftovers');
    return 'failed';
  }
}

/** Marks of disabled rules whose fail-safe is still armed. */
async function findHeld(router: RouterAdapter, disabled: readonly MarkedRule[]): Promise<ReadonlySet<string>> {
  if (disabled.length === 0) return new Set();
  const isTheirs = (name: string): boolean => disabled.some(({ mark }) => mark === name);
  return new Set(await findFailSafes(router, isTheirs, CLEAN_UP_DEADLINE));
}
