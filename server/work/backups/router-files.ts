import { MAX_BACKUP_BYTES } from '../../../protocol/index.ts';
import type { BackupPart } from '../../../protocol/index.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { AppError } from '../../platform/core/errors.ts';
import { sha256Of } from './content.ts';
import { requestedParts } from './store.ts';
import type { selectWay } from './store.ts';
import { PARTS, TAKEN_PARTS } from './types.ts';
import type { BackupRecord, BackupRules, TakenPart } from './types.ts';

export type Way = NonNullable<Awaited<ReturnType<typeof selectWay>>>;

export interface RouterFilesDeps {
  gateway: Pick<AgentGateway, 'request'>;
  rules: Pick<BackupRules, 'readMs'>;
  /** Gives up what is under way. */
  signal: AbortSignal;
}

/** The content of a backup's parts, from its router. */
export class RouterFiles {
  readonly #deps: RouterFilesDeps;
  /** Backups under way whose files were written on their router for them. */
  readonly #taken = new Set<string>();

  constructor(deps: RouterFilesDeps) {
    this.#deps = deps;
  }

  /** Whether files of the backup may be on its router. */
  mayHave(backup: BackupRecord): boolean {
    return hasFiles(backup) || this.#taken.has(backup.id);
  }

  /** The backup is no longer under way. */
  forget({ id }: BackupRecord): void {
    this.#taken.delete(id);
  }

  /** What a job has left is read. Without a job, an export is printed, so that nothing is written on the router; a binary is saved first. */
  async obtain(backup: BackupRecord, way: Way, part: BackupPart): Promise<Buffer> {
    if (backup.job_id !== null) return this.#read(backup, way, part);
    if (part === 'export') {
      try {
        return await this.#print(way);
      } catch (error) {
        // No console of this router can be reached: the router writes the export into a file.
        if (!(error instanceof AppError) || error.extra?.['reason'] !== 'unsupported') throw error;
      }
    }
    await this.#take(backup, way, part === 'binary' ? 'binary' : 'export');
    return this.#read(backup, way, part);
  }

  async #take(backup: BackupRecord, way: Way, part: TakenPart): Promise<void> {
    const { gateway, rules, signal } = this.#deps;
    this.#taken.add(backup.id);
    const params = { router: way.router, hardware_id: way.hardwareId, job_id: backup.id, parts: [part] };
    await gateway.request(way.agentId, 'backup.take', params, { timeoutMs: rules.readMs, signal });
  }

  /** @throws AppError `too_large` beyond the size of a backup's part */
  async #print(way: Way): Promise<Buffer> {
    const { gateway, rules, signal } = this.#deps;
    const texts: string[] = [];
    const params = { router: way.router, hardware_id: way.hardwareId, path: '/export', words: [] };
    await gateway.request(way.agentId, 'command', params, {
      timeoutMs: rules.readMs,
      signal,
      // One text for each message, as in `#read`.
      onRows: (rows) => texts.push(rows.map(({ line = '' }) => `${line}\n`).join('')),
    });
    const content = Buffer.from(texts.join(''));
    if (content.length > MAX_BACKUP_BYTES) throw new AppError('too_large', `the export is larger than ${MAX_BACKUP_BYTES} bytes`);
    return content;
  }

  async #read(backup: BackupRecord, way: Way, part: BackupPart): Promise<Buffer> {
    const { gateway, rules, signal } = this.#deps;
    const chunks: Buffer[] = [];
    const params = { router: way.router, hardware_id: way.hardwareId, job_id: nameOf(backup), part };
    const { size, sha256 } = await gateway.request(way.agentId, 'backup.read', params, {
      timeoutMs: rules.readMs,
      signal,
      onRows: (rows) => {
        // One for each message: a row of a single byte, or of none, would cost a hundred.
        chunks.push(Buffer.concat(rows.map(({ data = '' }) => Buffer.from(data, 'base64'))));
      },
    });
    const content = Buffer.concat(chunks);
    if (content.length !== size || sha256Of(content) !== sha256) throw new AppError('unavailable', 'the file came damaged');
    return content;
  }
}

/** What a backup shall have, in the order in which it is fetched. */
export function wantedParts(backup: BackupRecord): readonly BackupPart[] {
  const parts = requestedParts(backup);
  return parts === undefined ? PARTS : TAKEN_PARTS.filter((part) => parts.includes(part));
}

/** Always files on the router; an export alone is printed. */
function hasFiles(backup: BackupRecord): boolean {
  return backup.job_id !== null || wantedParts(backup).includes('binary');
}

/** Under which the agent finds its files. */
export function nameOf({ job_id: jobId, id }: BackupRecord): string {
  return jobId ?? id;
}
