import { AgentError } from '../core/errors.ts';
import type { Deadline } from '../routers/adapter.ts';
import { FLASH } from './router/flash.ts';
import type { RouterMenu } from './router/menu.ts';

export interface BackupTimes {
  /** Between two looks at a file that is being written, milliseconds. */
  pollMs: number;
  /** Longest wait for both files, milliseconds: the flash of small boards is slow, and sizes lag up to 40 s. */
  limitMs: number;
}

/** Jobs whose backup stays on the router: the flash of small boards holds 16 MB. */
const KEPT_JOBS = 3;
/** Only what this agent made itself. The ids in the names rise with time. */
const OWN_FILE = /^(?:flash\/)?(signalbox-[0-9a-f-]{36})\.(?:backup|rsc)$/;

/**
 * Takes a binary backup and a text export on the router, and makes sure that both are there and not empty.
 * @returns their names without suffix
 * @throws AgentError `rejected` when the router refuses or a file does not appear
 */
export async function takeBackup(
  menu: RouterMenu,
  name: string,
  options: { times: BackupTimes; deadline: Deadline; pause: (ms: number) => Promise<void> },
): Promise<string> {
  const { deadline } = options;
  const hasFlash = (await menu.fileSize(FLASH, deadline)) !== undefined;
  await removeOldest(menu, deadline);
  const target = hasFlash ? `${FLASH}/${name}` : name;
  await menu.saveBackup(target, deadline);
  await waitForFile(menu, `${target}.backup`, options);
  await menu.saveExport(target, deadline);
  await waitForFile(menu, `${target}.rsc`, options);
  return target;
}

/** Makes room, so that backups never fill the router. */
async function removeOldest(menu: RouterMenu, deadline: Deadline): Promise<void> {
  const files = await menu.listFiles('signalbox-', deadline);
  const jobOf = (file: string): string | undefined => OWN_FILE.exec(file)?.[1];
  const jobs = [...new Set(files.map(jobOf).filter((job) => job !== undefined))].sort();
  const old = new Set<string | undefined>(jobs.slice(0, Math.max(0, jobs.length - (KEPT_JOBS - 1))));
  for (const file of files) if (old.has(jobOf(file) ?? '')) await menu.removeFile(file, deadline);
}

/** A size that is positive and the same twice: the file is whole. @throws AgentError `rejected` */
export async function waitForFile(
  menu: RouterMenu,
  file: string,
  { times, deadline, pause }: { times: BackupTimes; deadline: Deadline; pause: (ms: number) => Promise<void> },
): Promise<void> {
  let before: number | undefined;
  for (let waited = 0; waited <= times.limitMs; waited += times.pollMs) {
    const size = await menu.fileSize(file, deadline);
    if (size !== undefined && size > 0 && size === before) return;
    before = size;
    await pause(times.pollMs);
    if (deadline.signal?.aborted === true) throw new AgentError('outcome_unknown', 'stopped while the backup was taken');
  }
  throw new AgentError('rejected', before === undefined ? `${file} was not written` : `${file} stays empty or keeps changing`);
}
