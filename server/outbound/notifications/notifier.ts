import type { FaultEvent } from '../../fleet/faults/types.ts';
import type { Listeners } from '../../platform/core/listeners.ts';
import type { BackupsService } from '../../work/backups/service.ts';
import type { CampaignsService } from '../../work/campaigns/service.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import { statusOf } from '../../work/jobs/service.ts';
import type { MessagesService } from './messages/service.ts';
import type { ThreadsService } from './threads/service.ts';

/** Features that write notices. Their changes are hints: the notices are in the database. */
export interface Sources {
  faultEvents: Listeners<FaultEvent>;
  jobs: Pick<JobsService, 'changes'>;
  campaigns: Pick<CampaignsService, 'changes'>;
  forwards: Pick<ForwardsService, 'changes'>;
  backups: Pick<BackupsService, 'configChanges'>;
}

/** Statuses of jobs that people are told of. */
const ENDED = new Set(['completed', 'failed', 'expired', 'unknown']);

/** Runs the pipeline: notices become threads, threads become messages, messages are sent. */
export class Notifier {
  readonly threads: ThreadsService;
  readonly messages: MessagesService;
  readonly #sources: Sources;
  /** Ends the connections of the channels. */
  readonly #close: (() => Promise<unknown>) | undefined;
  #unsubscribe: (() => void)[] = [];

  constructor(deps: { threads: ThreadsService; messages: MessagesService; sources: Sources; close?: () => Promise<unknown> }) {
    this.threads = deps.threads;
    this.messages = deps.messages;
    this.#sources = deps.sources;
    this.#close = deps.close;
  }

  /** Goes on with what an earlier process left. */
  start(): void {
    const { faultEvents, jobs, campaigns, forwards, backups } = this.#sources;
    const wake = (): void => this.threads.wake();
    this.#unsubscribe = [
      faultEvents.subscribe(wake),
      jobs.changes.subscribe((job) => {
        if (ENDED.has(statusOf(job))) wake();
      }),
      campaigns.changes.subscribe(wake),
      forwards.changes.subscribe(wake),
      backups.configChanges.subscribe(wake),
    ];
    this.threads.start();
    this.messages.wake();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.threads.stop();
    await this.messages.stop();
    await this.#close?.();
  }
}
