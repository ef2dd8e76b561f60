import type { BackupPart } from '../../../protocol/index.ts';
import { scriptNameOf } from '../run-marker.ts';

/** Names of backups on a router: `signalbox-<job id>`, in the folder `flash` if there is one. */

export function backupNameOf(jobId: string): string {
  return scriptNameOf(jobId);
}

export function exportAfterNameOf(jobId: string): string {
  return `${scriptNameOf(jobId)}-after`;
}

/** The file with a part of a job's backup, undefined when there is none. */
export function findPart(files: readonly string[], jobId: string, part: BackupPart): string | undefined {
  const name = ENDINGS[part](jobId);
  return files.find((file) => file === name || file.endsWith(`/${name}`));
}

const ENDINGS: Record<BackupPart, (jobId: string) => string> = {
  binary: (jobId) => `${backupNameOf(jobId)}.backup`,
  export: (jobId) => `${backupNameOf(jobId)}.rsc`,
  export_after: (jobId) => `${exportAfterNameOf(jobId)}.rsc`,
};
