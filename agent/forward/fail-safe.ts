import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { CLEAN_UP_DEADLINE, removeFound } from './clean-up.ts';
import { addSeconds } from './router-time.ts';

const SCHEDULER = '/system/scheduler';

/** The agent removes its rules at the end by itself; the router steps in a little later. */
const MARGIN_SECONDS = 60;

/** How the router itself removes a forward's rules when nobody else does any more. */
export type FailSafe = 'scheduler' | 'delayed script' | 'none';

/**
 * Has the router remove the rules of `mark` after `seconds`, with agent and control plane both gone. Scheduler entries
 * survive a reboot: one fires at the end, the other at the next start, because a router whose clock is wrong after a
 * reboot might never reach the end. Where device-mode forbids the scheduler, a script waits; a reboot ends that.
 * Entries of the same mark are replaced. @throws AgentError when it is not known what the router has done
 */
export async function armFailSafe(router: RouterAdapter, mark: string, seconds: number, deadline: Deadline): Promise<FailSafe> {
  try {
    // Left behind by an earlier opening; the router does not take the same name twice.
    await disarmFailSafe(router, mark, deadline);
    await schedule(router, mark, seconds + MARGIN_SECONDS, deadline);
    return 'scheduler';
  } catch (error) {
    await disarmFailSafe(router, mark, CLEAN_UP_DEADLINE).catch(() => undefined);
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
  }
  try {
    const script = `:delay ${seconds + MARGIN_SECONDS}s; ${removal(mark)}`;
    await router.command({ path: '/execute', words: [`=script=${script}`] }, deadline);
    return 'delayed script';
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    return 'none';
  }
}

/** Without effect when there is none. */
export async function disarmFailSafe(router: RouterAdapter, mark: string, deadline: Deadline): Promise<void> {
  await removeEntries(router, (name) => name === mark || name === bootName(mark), deadline);
}

/** Removes scheduler entries by name. */
export async function removeEntries(router: RouterAdapter, wanted: (name: string) => boolean, deadline: Deadline): Promise<void> {
  const find = async (): Promise<string[]> => {
    const { rows } = await router.command({ path: `${SCHEDULER}/print`, words: ['=.proplist=.id,name'] }, deadline);
    return rows.filter((row) => wanted(row['name'] ?? '')).flatMap((row) => row['.id'] ?? []);
  };
  await removeFound(router, SCHEDULER, find, deadline);
}

async function schedule(router: RouterAdapter, mark: string, seconds: number, deadline: Deadline): Promise<void> {
  const { rows } = await router.command({ path: '/system/clock/print', words: [] }, deadline);
  const end = addSeconds({ date: rows[0]?.['date'] ?? '', time: rows[0]?.['time'] ?? '' }, seconds);
  if (!end) throw new AgentError('rejected', 'the clock of the router cannot be read');
  const common = ['=interval=0s', `=on-event=${removal(mark)}`, '=policy=read,write'];
  const add = (...words: string[]): Promise<unknown> => router.command({ path: `${SCHEDULER}/add`, words: [...words, ...common] }, deadline);
  await add(`=name=${mark}`, `=start-date=${end.date}`, `=start-time=${end.time}`);
  await add(`=name=${bootName(mark)}`, '=start-time=startup');
}

function bootName(mark: string): string {
  return `${mark}-boot`;
}

/** The mark has only letters, digits and hyphens, so it needs no quoting of its own. */
function removal(mark: string): string {
  return (
    `/ip firewall nat remove [find comment="${mark}"]; ` +
    `/system scheduler remove [find name="${mark}"]; /system scheduler remove [find name="${bootName(mark)}"]`
  );
}
