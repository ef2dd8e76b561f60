import { uptimeSpanIn } from '../../core/router-uptime.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { menuOf } from '../router/menu-of.ts';
import type { RouterMenu } from '../router/menu.ts';
import { scriptNameOf } from '../run-marker.ts';
import { reachesAll } from './reach.ts';
import type { Reach } from './reach.ts';
import { GUARD_PREFIX, mayBeLoading } from './timing.ts';
import type { LoadTimes } from './timing.ts';

export interface LeftoverDeps {
  router: RouterAdapter;
  isAlive: Reach['isAlive'];
  /** Whether the journal has the job: it then handles its own guard. */
  isKnown: (jobId: string) => boolean;
  times: LoadTimes & {
    /** For a fresh session and the control plane's answer, in milliseconds. */
    reachMs: number;
  };
  /** Entries that were tried to be removed, also by an earlier attempt whose answer was lost. */
  tried: Set<string>;
}

/** `none`: no unknown guard is left. `removed`: an armed one was just removed. `armed`: one must stay. */
export type Leftovers = 'none' | 'removed' | 'armed';

/**
 * Checks once for guards of jobs that the journal does not know, because its disk was wiped or restored. Such a guard would undo
 * later jobs. Its own rule applies: if its script does not run and everything is reachable it is removed, otherwise it stays until
 * the router has undone the script.
 */
export async function clearLeftovers({ router, isAlive, isKnown, times, tried }: LeftoverDeps, deadline: Deadline): Promise<Leftovers> {
  const menu = menuOf(router);
  const armed = (await menu.listEntries(GUARD_PREFIX, deadline)).filter((name) => !isKnown(jobOf(name)));
  for (const name of armed) {
    if (await mayBeUndoing(router, menu, name, times, deadline)) return 'armed';
    if (!(await reachesAll({ router, isAlive }, { ...deadline, timeoutMs: times.reachMs }))) return 'armed';
    tried.add(name);
    await menu.removeEntry(name, deadline);
  }
  // A load that began meanwhile may still read its restore point.
  if (tried.size > 0) return 'removed';
  const files = await menu.listFiles(GUARD_PREFIX, deadline);
  for (const file of files) if (!isKnown(jobOf(file))) await menu.removeFile(file, deadline);
  return 'none';
}

/** The script runs, or the router may be loading the restore point. */
async function mayBeUndoing(router: RouterAdapter, menu: RouterMenu, name: string, times: LoadTimes, deadline: Deadline): Promise<boolean> {
  if (await menu.isRunning(scriptNameOf(jobOf(name)), deadline)) return true;
  const entry = await menu.findEntry(name, deadline);
  const time = entry && uptimeSpanIn(entry.source);
  const { uptimeSeconds } = await router.refresh(deadline);
  return time !== undefined && uptimeSeconds !== null && mayBeLoading(time, uptimeSeconds, times);
}

/** `flash/signalbox-undo-<job id>.backup` and `signalbox-undo-<job id>`. */
function jobOf(name: string): string {
  return name.slice(name.indexOf(GUARD_PREFIX) + GUARD_PREFIX.length).replace(/\.backup$/, '');
}
