import { createHash } from 'node:crypto';
import { MAX_BACKUP_BYTES } from '../../../protocol/index.ts';
import type { BackupPart } from '../../../protocol/index.ts';
import { AgentError } from '../../core/errors.ts';
import { findRouter } from '../../core/routers.ts';
import type { Routers } from '../../core/routers.ts';
import { DEFAULT_TIMES } from '../times.ts';
import { sleep } from '../../core/clock.ts';
import type { Clock } from '../../core/clock.ts';
import { menuOf } from '../router/menu-of.ts';
import { readRouterFile } from '../router/read-file.ts';
import { backupNameOf, findPart } from './names.ts';
import { takeBackup } from './take.ts';

interface OnRouter {
  router: string;
  hardware_id: string;
  job_id: string;
}

interface Context {
  timeoutMs: number;
  signal: AbortSignal;
  sendRows(rows: Record<string, string>[]): Promise<void>;
}

/** Bytes in one row: in base64 less than a batch of rows. */
const ROW_BYTES = 36 * 1024;

/**
 * Handles `backup.take`, `backup.read` and `backup.remove`.
 * @param whenExported resolves when no export after a job of this router is in progress
 */
export function createBackupHandlers(routers: Routers, whenExported: (router: string) => Promise<void>, clock: Clock) {
  return {
    'backup.take': async (params: OnRouter & { parts: BackupPart[] }, context: Context): Promise<Record<string, never>> => {
      const router = findRouter(routers, params.router, params.hardware_id);
      const deadline = { timeoutMs: context.timeoutMs, signal: context.signal };
      const pause = (ms: number): Promise<void> => sleep(clock, ms, context.signal);
      await takeBackup(router, params.job_id, { times: DEFAULT_TIMES.backup, deadline, pause }, params.parts);
      return {};
    },

    'backup.read': async (params: OnRouter & { part: BackupPart }, context: Context): Promise<{ size: number; sha256: string }> => {
      const router = findRouter(routers, params.router, params.hardware_id);
      const deadline = { timeoutMs: context.timeoutMs, signal: context.signal };
      if (params.part === 'export_after') await whenExported(router.name);
      const files = await menuOf(router).listFiles(backupNameOf(params.job_id), deadline);
      const name = findPart(files, params.job_id, params.part);
      if (name === undefined) throw new AgentError('invalid', 'the router has no such file');
      const content = await readRouterFile(router, { name, isText: params.part !== 'binary' }, { ...deadline, maxBytes: MAX_BACKUP_BYTES });
      for (let start = 0; start < content.length; start += ROW_BYTES) {
        await context.sendRows([{ data: content.toString('base64', start, Math.min(start + ROW_BYTES, content.length)) }]);
      }
      return { size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
    },

    'backup.remove': async (params: OnRouter & { parts: BackupPart[] }, context: Context): Promise<Record<string, never>> => {
      const router = findRouter(routers, params.router, params.hardware_id);
      const deadline = { timeoutMs: context.timeoutMs, signal: context.signal };
      const files = await menuOf(router).listFiles(backupNameOf(params.job_id), deadline);
      for (const part of params.parts) {
        const name = findPart(files, params.job_id, part);
        if (name !== undefined) await menuOf(router).removeFile(name, deadline);
      }
      return {};
    },
  };
}
