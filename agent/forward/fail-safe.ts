import { AgentError } from '../core/errors.ts';
import { whenUptimeIsOver } from '../core/router-uptime.ts';
import type { Deadline, RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { dateLike } from '../../routeros-text/clock.ts';
import { parseDuration } from '../../routeros-text/durations.ts';
import { runCommand } from './run-command.ts';
import { CLEAN_UP_DEADLINE, removeFound } from './clean-up.ts';
import { connectionCut } from './nat-rules.ts';
import type { NatRules } from './nat-rules.ts';

const SCHEDULER = '/system/scheduler';
const SCRIPT = '/system/script';
const SCRIPT_JOB = '/system/script/job';

/** The agent removes its rules at the end; the router's fail-safe fires this much later. */
const MARGIN_SECONDS = 60;

/** Ends that differ by less are one: every new tunnel renews the forwards, and the fail-safe has a margin of a minute. */
const SAME_END_MS = 5_000;

/** @param one, other by `sinceBoot` */
export function isSameEnd(one: number, other: number): boolean {
  return Math.abs(one - other) < SAME_END_MS;
}

/** Number of times that the router checks whether the time is over. A check is cheap, but there may be many forwards. */
const CHECKS = 20;
const LONGEST_TICK_SECONDS = 300;

/** How the router undoes something without the agent. */
export type FailSafe = 'scheduler' | 'delayed script' | 'none';

/** What the router undoes by itself. */
export interface Undoing {
  /** Name of the entries on the router: letters, digits and hyphens, so it needs no quotes. */
  mark: string;
  /** RouterOS script source that v6 and v7 run. */
  source: string;
  /** Also undo at the router's next boot. */
  atBoot: boolean;
}

/** Removes the rules, then the connections through them, so that no new connection can open in between. */
export function natUndoing(rules: NatRules): Undoing {
  const { mark } = rules;
  return { mark, source: `/ip firewall nat remove [find comment="${mark}"]; ${connectionCut(rules)}`, atBoot: true };
}

/**
 * Makes the router undo something after `seconds`, even without agent and control plane. Scheduler entries survive a reboot: one
 * checks at intervals whether the time is over, by the router's uptime because its clock may be set; the other fires at the next
 * boot. Where device-mode forbids the scheduler, a delayed script is used, which a reboot ends. A fail-safe of the same mark is
 * changed to the new time without a moment in between in which the router has none: the agent may be killed at any step.
 * @throws AgentError; parts may then be on the router
 */
export async function armFailSafe(router: RouterAdapter, undoing: Undoing, seconds: number, deadline: Deadline): Promise<FailSafe> {
  const { mark } = undoing;
  try {
    await schedule(router, undoing, seconds + MARGIN_SECONDS, deadline);
    await removeScripts(router, (name) => markOfFailSafe(name) === mark, deadline);
    return 'scheduler';
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    await removeEntries(router, (name) => markOfFailSafe(name) === mark, CLEAN_UP_DEADLINE).catch(() => undefined);
  }
  try {
    await startDelayed(router, undoing, seconds + MARGIN_SECONDS, deadline);
    return 'delayed script';
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    await disarmFailSafe(router, mark, CLEAN_UP_DEADLINE).catch(() => undefined);
    return 'none';
  }
}

/** Whether the fail-safe is still on the router: a delayed script is lost in a reboot. @throws AgentError */
export async function isArmed(router: RouterAdapter, mark: string, kind: FailSafe, deadline: Deadline): Promise<boolean> {
  if (kind === 'none') return true;
  const [menu, property] = kind === 'scheduler' ? ([SCHEDULER, 'name'] as const) : ([SCRIPT_JOB, 'script'] as const);
  // The entry for the next boot alone does not end anything at its time.
  const isIt = (name: string): boolean => name !== bootName(mark) && markOfFailSafe(name) === mark;
  return (await findNamed(router, menu, property, isIt, deadline)).length > 0;
}

/** @returns the marks of armed fail-safes of both kinds @throws AgentError */
export async function findFailSafes(router: RouterAdapter, isWanted: (mark: string) => boolean, deadline: Deadline): Promise<string[]> {
  const entries = await readRows(router, `${SCHEDULER}/print`, 'name', deadline);
  const scripts = await readRows(router, `${SCRIPT_JOB}/print`, 'script', deadline);
  return [...entries.map((row) => row['name'] ?? ''), ...scripts.map((row) => row['script'] ?? '')].map(markOfFailSafe).filter(isWanted);
}

/** The mark in the name of an entry or script of a fail-safe; any other text stays as it is. */
export function markOfFailSafe(name: string): string {
  return name.replace(/-(?:boot|again)$/, '');
}

/** Removes a fail-safe. No effect when there is none. @throws AgentError */
export async function disarmFailSafe(router: RouterAdapter, mark: string, deadline: Deadline): Promise<void> {
  await removeFailSafes(router, (name) => markOfFailSafe(name) === mark, deadline);
}

/** Removes fail-safes of both kinds by name; ends a delayed script. @throws AgentError */
export async function removeFailSafes(router: RouterAdapter, wanted: (name: string) => boolean, deadline: Deadline): Promise<void> {
  await removeEntries(router, wanted, deadline);
  await removeScripts(router, wanted, deadline);
}

async function removeEntries(router: RouterAdapter, wanted: (name: string) => boolean, deadline: Deadline): Promise<void> {
  await removeNamed(router, SCHEDULER, 'name', wanted, deadline);
}

async function removeScripts(router: RouterAdapter, wanted: (name: string) => boolean, deadline: Deadline): Promise<void> {
  await removeNamed(router, SCRIPT_JOB, 'script', wanted, deadline);
  await removeNamed(router, SCRIPT, 'name', wanted, deadline);
}

async function removeNamed(
  router: RouterAdapter,
  menu: string,
  property: 'name' | 'script',
  wanted: (name: string) => boolean,
  deadline: Deadline,
): Promise<void> {
  await removeFound(router, menu, () => findNamed(router, menu, property, wanted, deadline), deadline);
}

/** @returns the ids of items whose `property` is a wanted name */
async function findNamed(
  router: RouterAdapter,
  menu: string,
  property: 'name' | 'script',
  wanted: (name: string) => boolean,
  deadline: Deadline,
): Promise<string[]> {
  const rows = await readRows(router, `${menu}/print`, `.id,${property}`, deadline);
  return rows.filter((row) => wanted(row[property] ?? '')).flatMap((row) => row['.id'] ?? []);
}

/**
 * Starts a stored script, whose name allows to find and end it; `/execute` alone would start a nameless one. A waiting script cannot
 * get another time: the next one gets the other name and runs before the former is ended.
 */
async function startDelayed(router: RouterAdapter, undoing: Undoing, seconds: number, deadline: Deadline): Promise<void> {
  const { mark } = undoing;
  const running = await readRows(router, `${SCRIPT_JOB}/print`, 'script', deadline);
  const name = running.some((row) => row['script'] === mark) ? `${mark}-again` : mark;
  // Left by an agent that was killed between two scripts.
  await removeScripts(router, (each) => each === name, deadline);
  const source = `:delay ${seconds}s; ${onceAndGone(undoing)}`;
  await runCommand(router, { path: `${SCRIPT}/add`, words: [`=name=${name}`, '=policy=read,write', `=source=${source}`] }, deadline);
  await runCommand(router, { path: '/execute', words: [`=script=/system script run ${name}`] }, deadline);
  await removeScripts(router, (each) => each !== name && markOfFailSafe(each) === mark, deadline);
}

async function schedule(router: RouterAdapter, undoing: Undoing, seconds: number, deadline: Deadline): Promise<void> {
  const [[resource], [clock]] = await Promise.all([
    readRows(router, '/system/resource/print', 'uptime', deadline),
    readRows(router, '/system/clock/print', 'date', deadline),
  ]);
  const uptime = parseDuration(resource?.['uptime'] ?? '');
  if (uptime === undefined) throw new AgentError('rejected', 'the uptime of the router cannot be read');
  // In the past for every clock, so the next check is never later than the interval.
  const start = dateLike(clock?.['date'], '1970-01-01');
  const tick = Math.min(LONGEST_TICK_SECONDS, Math.ceil(seconds / CHECKS));
  const source = whenUptimeIsOver({ armedAt: Math.floor(uptime), allowed: seconds }, onceAndGone(undoing));
  const known = await readRows(router, `${SCHEDULER}/print`, '.id,name', deadline);
  const put = (name: string, ...words: string[]): Promise<void> =>
    putEntry(router, known.find((row) => row['name'] === name)?.['.id'], name, words, deadline);
  const { mark } = undoing;
  await put(mark, `=start-date=${start}`, '=start-time=00:00:00', `=interval=${tick}s`, `=on-event=${source}`);
  if (!undoing.atBoot) return;
  await put(bootName(mark), '=start-time=startup', '=interval=0s', `=on-event=${onceAndGone(undoing)}`);
}

/** Changes the entry in one command, or adds it when there is none: it may have fired, or a user may have removed it. */
async function putEntry(
  router: RouterAdapter,
  id: string | undefined,
  name: string,
  words: readonly string[],
  deadline: Deadline,
): Promise<void> {
  const common = [`=name=${name}`, ...words, '=policy=read,write'];
  if (id !== undefined) {
    try {
      // A user may have disabled it.
      await runCommand(router, { path: `${SCHEDULER}/set`, words: [`=.id=${id}`, ...common, '=disabled=no'] }, deadline);
      return;
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== 'rejected') throw error;
    }
  }
  await runCommand(router, { path: `${SCHEDULER}/add`, words: common }, deadline);
}

async function readRows(router: RouterAdapter, path: string, property: string, deadline: Deadline): Promise<RouterRow[]> {
  return (await runCommand(router, { path, words: [`=.proplist=${property}`] }, deadline)).rows;
}

function bootName(mark: string): string {
  return `${mark}-boot`;
}

/** Source that undoes it, then removes the fail-safe itself. */
function onceAndGone({ mark, source }: Undoing): string {
  return (
    `${source}; /system scheduler remove [find name="${mark}"]; /system scheduler remove [find name="${bootName(mark)}"]; ` +
    `/system script remove [find name="${mark}"]; /system script remove [find name="${mark}-again"]`
  );
}
