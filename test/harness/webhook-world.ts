import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { AdoptedClock } from '../../server/platform/core/adopted-clock.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { movePlans } from '../../server/platform/storage/move-plans.ts';
import { openSecrets } from '../../server/platform/storage/secrets.ts';
import { WebhooksService } from '../../server/outbound/webhooks/service.ts';
import { DEFAULT_WEBHOOK_RULES } from '../../server/outbound/webhooks/types.ts';
import type { Delivery, WebhookRules } from '../../server/outbound/webhooks/types.ts';
import { ManualClock } from './manual-clock.ts';
import { seedRouter } from './seed.ts';
import type { SeededRouter } from './seed.ts';
import { silentLog } from './silent-log.ts';
import { waitUntil } from './wait-until.ts';

/** A process that stops cuts off soon what it is sending. */
export const TEST_RULES: WebhookRules = { ...DEFAULT_WEBHOOK_RULES, stopWithinMs: 50 };

/** A job of this world, with what its agent says about it. */
export interface TestJob {
  id: string;
  accept(): Promise<void>;
  begin(): Promise<void>;
  complete(): Promise<void>;
}

/** One process's jobs and webhooks; several share a database. */
export interface TestProcess {
  jobs: JobsService;
  webhooks: WebhooksService;
}

/** Jobs and their webhooks on a database, without agents and HTTP; time stands still until it is moved. */
export class WebhookWorld {
  readonly clock = new ManualClock(Date.now());
  /** As the processes go by it. */
  readonly adopted = new AdoptedClock(this.clock);
  readonly storage: Storage;
  readonly router: SeededRouter;
  readonly #folder: string;
  readonly #running = new Set<TestProcess>();

  private constructor(storage: Storage, router: SeededRouter, folder: string) {
    this.storage = storage;
    this.router = router;
    this.#folder = folder;
  }

  static async create(storage: Storage): Promise<WebhookWorld> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-webhooks-'));
    return new WebhookWorld(storage, await seedRouter(storage), folder);
  }

  async startProcess(rules: WebhookRules = TEST_RULES): Promise<TestProcess> {
    const { storage, adopted: clock } = this;
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } });
    const gateway = { notify: () => false };
    const jobs = new JobsService({
      storage,
      gateway,
      routers,
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: true },
    });
    const secrets = await openSecrets(path.join(this.#folder, 'secret.key'));
    const targets = { allowLoopback: true };
    const webhooks = new WebhooksService({ storage, clock, log: silentLog, jobs, secrets, targets, rules, random: () => 0.5 });
    webhooks.start();
    const process = { jobs, webhooks };
    this.#running.add(process);
    return process;
  }

  async stopProcess(process: TestProcess): Promise<void> {
    this.#running.delete(process);
    await process.webhooks.stop();
    await process.jobs.stop();
  }

  async createJob(process: TestProcess, notifyUrl: string | undefined, router = this.router): Promise<TestJob> {
    const job = await process.jobs.createJob(
      router.teamId,
      router.routerId,
      {
        description: 'd',
        script: ':put 1',
        makeBackup: false,
        expressExecute: false,
        needsAcknowledgement: true,
        notifyUrl,
        timeoutSeconds: undefined,
        deliverWithinMinutes: undefined,
      },
      { requestId: 'r', idempotencyKey: 'k', keyGiven: false },
    );
    const connection: AgentConnection = { agentId: router.agentId, teamId: router.teamId, epoch: 0, address: '::1', reset: false };
    const result = { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false } as const;
    // An agent whose control plane has stopped goes to one that runs.
    const running = (): JobsService => (this.#running.has(process) ? process : [...this.#running][0]!).jobs;
    return {
      id: job.id,
      accept: () => running().onJobAccepted(connection, job.id),
      begin: () => running().onJobBegan(connection, job.id),
      complete: () => running().onJobEnded(connection, job.id, result),
    };
  }

  /** Sets the wall clock of the machine, which the processes notice. */
  async setClock(stepMs: number): Promise<void> {
    this.clock.step(stepMs);
    await this.adopted.adopt((ms, now) => this.storage.writes.write((tx) => movePlans(tx, ms, now)));
  }

  /** The delivery log of a job, oldest event first. */
  async deliveries({ webhooks }: TestProcess, job: Pick<JobRecord, 'id'>): Promise<Delivery[]> {
    const page = { limit: 100, before: undefined };
    return (await webhooks.listDeliveries(this.router.teamId, this.router.routerId, job.id, page)).reverse();
  }

  /** Resolves once the deliveries are in these states: `delivered pending`. */
  async until(process: TestProcess, job: Pick<JobRecord, 'id'>, states: string): Promise<Delivery[]> {
    return waitUntil(`deliveries are: ${states}`, async () => {
      const deliveries = await this.deliveries(process, job);
      return deliveries.map(({ event }) => event.state).join(' ') === states ? deliveries : undefined;
    });
  }

  /** Resolves once the last event of the job has had this many attempts and waits for the next. */
  async untilAttempts(process: TestProcess, job: Pick<JobRecord, 'id'>, index: number, count: number): Promise<Delivery> {
    return waitUntil(`event ${index} has had ${count} attempts`, async () => {
      const delivery = (await this.deliveries(process, job))[index];
      return delivery?.attempts.length === count && delivery.event.claim === null ? delivery : undefined;
    });
  }

  async close(): Promise<void> {
    for (const process of this.#running) await this.stopProcess(process);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
