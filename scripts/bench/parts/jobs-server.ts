import { openStorage } from '../../../server/platform/storage/open.ts';
import { seedRouter } from '../../../test/harness/seed.ts';
import { quietLog } from '../quiet-log.ts';
import { startServerPart } from './server.ts';

export interface JobsServerPart {
  url: string;
  apiKey: string;
  routerId: string;
}

/** A control plane with one router whose agent never connects: jobs are accepted and stay pending. */
export async function startJobsServerPart({ folder }: { folder: string }): Promise<JobsServerPart> {
  const { url, apiKey } = await startServerPart({ folder });
  const storage = await openStorage(`sqlite:${folder}/signalbox.db`, { log: quietLog });
  try {
    const teamId = apiKey.split(':')[1]!;
    const { routerId } = await seedRouter(storage, { teamId, now: Date.now() });
    return { url, apiKey, routerId };
  } finally {
    await storage.close();
  }
}
