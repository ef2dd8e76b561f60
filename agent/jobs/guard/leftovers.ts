import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { menuOf } from '../router/menu-of.ts';
import { scriptNameOf } from '../run-marker.ts';
import { reachesAll } from './reach.ts';
import type { Reach } from './reach.ts';
import { GUARD_PREFIX } from './timing.ts';

export interface LeftoverDeps {
  router: RouterAdapter;
  isAlive: Reach['isAlive'];
  /** Whether the journal has the job: it then handles its own guard. */
  isKnown: (jobId: string) => boolean;
  /** For a fresh session and the control plane's answer, in milliseconds. */
  reachMs: number;
}

/** `none`: no unknown guard is left. `removed`: an armed one was just removed. `armed`: one must stay. */
export type Leftovers = 'none' | 'removed' | 'armed';

/**
 * Checks once for guards of jobs that the journal does not know, because its disk was wiped or restored. Such a guard would undo
 * later jobs. Its own rule applies: if its script does not run and everything is reachable it is removed, otherwise it stays until
 * the router has undone the script.
 */
export async function clearLeftovers({ router, isAlive, isKnown, reachMs }: LeftoverDeps, deadline: Deadline): Promise<Leftovers> {
  const menu = menuOf(router);
  const armed = (await menu.listEntries(GUARD_PREFIX, deadline)).filter((name) => !isKnown(jobOf(name)));
  let result: Leftovers = 'none';
  for (const name of armed) {
    const isRunning = await menu.isRunning(scriptNameOf(jobOf(name)), deadline);
    if (isRunning || !(await reachesAll({ router, isAlive }, { ...deadline, timeoutMs: reachMs }))) return 'armed';
    await menu.removeEntry(name, deadline);
    result = 'removed';
  }
  const files = await menu.listFiles(GUARD_PREFIX, deadline);
  for (const file of files) if (!isKnown(jobOf(file))) await menu.removeFile(file, deadline);
  return result;
}

/** `flash/signalbox-undo-<job id>.backup` and `signalbox-undo-<job id>`. */
function jobOf(name: string): string {
  return name.slice(name.indexOf(GUARD_PREFIX) + GUARD_PREFIX.length).replace(/\.backup$/, '');
}
