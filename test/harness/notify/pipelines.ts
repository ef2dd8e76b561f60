import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { newId } from '../../../server/platform/core/ids.ts';
import type { NewNotice } from '../../../server/platform/notices/types.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import type { WebhookReceiver } from '../webhook-receiver.ts';
import type { PipelineOptions } from './pipeline-process.ts';

/** Processes that tell the facts of one database, and what arrived of it. */

const PROGRAM = path.join(import.meta.dirname, 'pipeline-process.ts');
/** Messages of one bucket at once: so many may be on their way when a process is killed. */
export const IN_FLIGHT = 4;

/** At which write a process kills itself. */
export type Kill = Pick<PipelineOptions, 'step' | 'when'>;

/** Rare steps first: routing and deciding are a few writes, sending and recording are hundreds. */
export const KILLS: readonly Kill[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40].flatMap((step) => [
  { step, when: 'before' as const },
  { step, when: 'after' as const },
]);

/** So many facts that each become one message of their own: only campaigns are never told together. */
export function manyFacts(teamId: string, count: number, now: number): NewNotice[] {
  return Array.from({ length: count }, (): NewNotice => {
    const recordId = newId(now);
    const key = `campaign:${recordId}`;
    return { teamId, kind: 'campaign.completed', phase: 'info', severity: 'info', key, recordId, version: 1, at: now };
  });
}

export async function countSent({ db }: Storage): Promise<number> {
  const { count } = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', 'sent')
    .executeTakeFirstOrThrow();
  return count;
}

/** What a receiver of webhooks has got. */
export function arrivalsAt({ received }: Pick<WebhookReceiver, 'received'>): { requests: number; ids: number; threads: number } {
  const threads = received.map(({ body }) => (JSON.parse(body) as { data: { thread: { id: string } } }).data.thread.id);
  return {
    requests: received.length,
    // The id is the same in every attempt, so a receiver sees what it has already.
    ids: new Set(received.map(({ headers }) => headers['webhook-id'])).size,
    threads: new Set(threads).size,
  };
}

/** One such process, which is followed by another when it has killed itself. */
export class Pipeline {
  kills = 0;
  readonly #options: Omit<PipelineOptions, keyof Kill>;
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(options: Omit<PipelineOptions, keyof Kill>) {
    this.#options = options;
  }

  /** Runs through the kills, then goes on until {@link stop}. Rejects when a process ends by itself. */
  async run(kills: readonly Kill[]): Promise<void> {
    for (const kill of [...kills, { step: 0, when: 'never' as const }]) {
      if (this.#isStopped) return;
      const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...this.#options, ...kill } satisfies PipelineOptions)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      this.#child = child;
      await once(child, 'exit');
      if (child.signalCode !== 'SIGKILL') throw new Error(`a pipeline ended by itself: ${child.exitCode ?? child.signalCode}`);
      if (!this.#isStopped) this.kills += 1;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#child?.kill('SIGKILL');
  }
}
