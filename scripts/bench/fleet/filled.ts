import { CredentialsService } from '../../../server/access/credentials/service.ts';
import { TeamsService } from '../../../server/access/teams/service.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { hashSecret, newId, newSecret } from '../../../server/platform/core/ids.ts';
import { inChunks } from '../../../server/platform/storage/columns.ts';
import { migrate } from '../../../server/platform/storage/migrate.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { seedLargeFleet } from '../../../test/harness/large-fleet.ts';
import type { Credentials } from '../../fleet/enrol.ts';
import { quietLog } from '../quiet-log.ts';

export interface Filled {
  apiKey: string;
  credentials: Credentials[];
}

const SECRET_LENGTH = 62;

/** A database with a team whose agents are enrolled and have never connected. */
export async function fillDatabase(databaseUrl: string, agents: number): Promise<Filled> {
  const storage = await openStorage(databaseUrl, { log: quietLog });
  try {
    await migrate(storage);
    const { id: teamId } = await new TeamsService({ storage, clock: systemClock }).createTeam('bench');
    const service = new CredentialsService({ storage, clock: systemClock, log: quietLog });
    const { apiKey } = await service.createApiKey({ teamId, name: 'bench', createdBy: null });
    await service.stop();
    const now = Date.now();
    const credentials = Array.from({ length: agents }, () => ({ agent_id: newId(now), secret: newSecret(SECRET_LENGTH) }));
    for (const chunk of inChunks(credentials))
      await storage.db
        .insertInto('agents')
        .values(
          chunk.map(({ agent_id: id, secret }) => ({
            id,
            team_id: teamId,
            site_id: null,
            name: `agent ${id}`,
            secret_hash: hashSecret(secret),
            version: null,
            created_at: now,
            revoked_at: null,
            epoch: 0,
            confirmed_epoch: 0,
            journal_id: null,
            connected_at: null,
            disconnected_at: null,
          })),
        )
        .execute();
    return { apiKey, credentials };
  } finally {
    await storage.close();
  }
}

/** Jobs of another team that wait for agents that never come. */
export async function addQueuedJobs(databaseUrl: string, jobs: number): Promise<void> {
  const storage = await openStorage(databaseUrl, { log: quietLog });
  try {
    await seedLargeFleet(storage, { agents: 1000, jobs, now: Date.now() });
  } finally {
    await storage.close();
  }
}
