import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startServer } from '../../../server/compose/start.ts';
import type { RunningServer } from '../../../server/compose/start.ts';
import { checkConfig } from '../../../server/config.ts';
import { insertNotices } from '../../../server/platform/notices/store.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { followKinds } from '../notifications.ts';
import { seedRouter } from '../seed.ts';
import type { SeededRouter } from '../seed.ts';
import { silentLog } from '../silent-log.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';
import { countSent, manyFacts } from './pipelines.ts';

/** Several control planes over one PostgreSQL database, and teams whose groups tell one receiver of webhooks. */
export class NotifyInstances {
  readonly receiver: WebhookReceiver;
  readonly #folder: string;
  readonly #storage: Storage;
  readonly #servers: RunningServer[] = [];
  readonly #teams: SeededRouter[] = [];

  private constructor(folder: string, storage: Storage, receiver: WebhookReceiver) {
    this.#folder = folder;
    this.#storage = storage;
    this.receiver = receiver;
  }

  static async start({ databaseUrl, count, teams }: { databaseUrl: string; count: number; teams: number }): Promise<NotifyInstances> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-instances-'));
    const storage = await openStorage(databaseUrl, { log: silentLog });
    const instances = new NotifyInstances(folder, storage, await WebhookReceiver.start());
    try {
      for (let n = 0; n < count; n += 1) await instances.#startServer(databaseUrl);
      for (let n = 0; n < teams; n += 1) await instances.#addTeam();
      return instances;
    } catch (error) {
      await instances.close();
      throw error;
    }
  }

  get storage(): Storage {
    return this.#storage;
  }

  /** Each with a router, and a group that follows everything and tells `/<team>` of the receiver. */
  get teams(): readonly SeededRouter[] {
    return this.#teams;
  }

  /** As the features do when they have stored a fact. */
  wake(): void {
    for (const { services } of this.#servers) services.threads.wake();
  }

  /** So many facts of each team, stored in turns while all control planes look for them. */
  async tell(perTeam: number): Promise<void> {
    const now = Date.now();
    const facts = this.#teams.map((team) => manyFacts(team.teamId, perTeam, now));
    for (let n = 0; n < perTeam; n += 5) {
      await this.#storage.writes.write(async (tx) => {
        for (const ofTeam of facts) await insertNotices(tx, ofTeam.slice(n, n + 5), Date.now());
      });
      this.wake();
    }
  }

  countSent(): Promise<number> {
    return countSent(this.#storage);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    await this.receiver.close();
    await this.#storage.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #startServer(databaseUrl: string): Promise<void> {
    const config = checkConfig({
      SIGNALBOX_LISTEN: '127.0.0.1:0',
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(this.#folder, 'secret.key'),
      SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'on',
    });
    this.#servers.push(await startServer(config, { isShared: true, log: silentLog, consoleFiles: null, agentRelease: null }));
  }

  /** With a group that tells a proved target. */
  async #addTeam(): Promise<void> {
    const { targets, groups } = this.#servers[0]!.services;
    const team = await seedRouter(this.#storage);
    const group = await followKinds(this.#storage, team.teamId, ['*'], Date.now());
    const address = { url: `${this.receiver.url}/${team.teamId}` };
    const { id } = await targets.create(team.teamId, { name: 'Receiver', channel: 'webhook', address });
    await this.#storage.db.updateTable('notification_targets').set({ verified_at: Date.now() }).where('id', '=', id).execute();
    await groups.change(team.teamId, group, { targets: [id] });
    this.#teams.push(team);
  }
}
