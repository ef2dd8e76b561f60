import { MAX_BACKUP_BYTES } from '../../../protocol/index.ts';
import type { BackupPart } from '../../../protocol/index.ts';
import { isExportText } from '../../../routeros-text/export-text.ts';
import { AgentError } from '../../core/errors.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { FLASH } from '../router/flash.ts';
import { menuOf } from '../router/menu-of.ts';
import type { RouterMenu } from '../router/menu.ts';
import { readRouterFile } from '../router/read-file.ts';
import { backupNameOf, exportAfterNameOf } from './names.ts';

export interface BackupTimes {
  /** Interval of checks of a file that is being written, in milliseconds. */
  pollMs: number;
  /** Longest wait for both files, in milliseconds: the flash of small boards is slow, and sizes lag up to 40 s. */
  limitMs: number;
  /** Longest time that the router's next job waits for the export after this one, in milliseconds. */
  afterMs: number;
}

export interface FileWait {
  times: BackupTimes;
  deadline: Deadline;
  pause: (ms: number) => Promise<void>;
}

/** Number of jobs whose backups stay on the router: the flash of small boards holds 16 MB. */
const KEPT_JOBS = 3;
/** Only files of agents. The ids in the names increase with time. */
const OWN_FILE = /^(?:flash\/)?(signalbox-[0-9a-f]{8}-[0-9a-f-]{27})(?:-after)?\.(?:backup|rsc)$/;

/**
 * Saves a binary backup and a text export on the router, and checks that both files are complete and that the export is valid.
 * @param parts without one of them the other is saved alone
 * @throws AgentError `rejected` when the router refuses or a file does not appear
 */
export async function takeBackup(
  router: RouterAdapter,
  jobId: string,
  wait: FileWait,
  parts: readonly BackupPart[] = ['binary', 'export'],
): Promise<void> {
  const menu = menuOf(router);
  const target = await targetOf(menu, backupNameOf(jobId), wait.deadline);
  await removeOldest(menu, wait.deadline);
  if (parts.includes('binary')) {
    await menu.saveBackup(target, wait.deadline);
    await waitForFile(menu, `${target}.backup`, wait);
  }
  if (!parts.includes('export')) return;
  await saveExport(menu, target, wait);
  await checkExport(router, `${target}.rsc`, wait.deadline);
}

/** Saves the export after a job, which shows its changes. @throws AgentError */
export async function takeExportAfter(router: RouterAdapter, jobId: string, wait: FileWait): Promise<void> {
  const menu = menuOf(router);
  await saveExport(menu, await targetOf(menu, exportAfterNameOf(jobId), wait.deadline), wait);
}

async function saveExport(menu: RouterMenu, target: string, wait: FileWait): Promise<void> {
  await menu.saveExport(target, wait.deadline);
  await waitForFile(menu, `${target}.rsc`, wait);
}

/** The path at which a file survives a reboot. */
export async function targetOf(menu: RouterMenu, name: string, deadline: Deadline): Promise<string> {
  const hasFlash = (await menu.fileSize(FLASH, deadline)) !== undefined;
  return hasFlash ? `${FLASH}/${name}` : name;
}

/** The router may have written a refusal into the file. A file that cannot be read here is checked when it is fetched. */
async function checkExport(router: RouterAdapter, name: string, deadline: Deadline): Promise<void> {
  try {
    const content = await readRouterFile(router, { name, isText: true }, { ...deadline, maxBytes: MAX_BACKUP_BYTES });
    if (!isExportText(content.toString('utf8'))) throw new AgentError('rejected', `${name} is not an export`);
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'unsupported') throw error;
  }
}

/** Removes old backups, so that they never fill the router. */
async function removeOldest(menu: RouterMenu, deadline: Deadline): Promise<void> {
  const files = await menu.listFiles('signalbox-', deadline);
  const jobOf = (file: string): string | undefined => OWN_FILE.exec(file)?.[1];
  const jobs = [...new Set(files.map(jobOf).filter((job) => job !== undefined))].sort();
  const old = new Set<string | undefined>(jobs.slice(0, Math.max(0, jobs.length - (KEPT_JOBS - 1))));
  for (const file of files) if (old.has(jobOf(file) ?? '')) await menu.removeFile(file, deadline);
}

/** Waits for a positive size that is the same twice: the file is complete. @throws AgentError `rejected` */
export async function waitForFile(menu: RouterMenu, file: string, { times, deadline, pause }: FileWait): Promise<void> {
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
