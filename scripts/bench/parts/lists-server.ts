import { disablePretenuring } from '../../../runtime/pretenuring.ts';
import { checkConfig } from '../../../server/config.ts';
import { startServer } from '../../../server/compose/start.ts';
import { quietLog } from '../quiet-log.ts';

export interface ListsServerOptions {
  folder: string;
  /** Of the filled database. */
  databaseUrl: string;
  teamId: string;
  keys: number;
  /** Changes that are published all the time. */
  changesPerSecond: number;
}

export interface ListsServerPart {
  url: string;
  apiKeys: string[];
}

/** How often changes are published: a hundred times a second, some at a time. */
const TURN_MS = 10;

/** A control plane with a filled database. */
export async function startListsServerPart({
  folder,
  databaseUrl,
  teamId,
  keys,
  changesPerSecond,
}: ListsServerOptions): Promise<ListsServerPart> {
  disablePretenuring();
  const config = checkConfig({
    SIGNALBOX_LISTEN: '127.0.0.1:0',
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000000',
  });
  const server = await startServer(config, { log: quietLog });
  const { credentials, events } = server.services;
  const apiKeys: string[] = [];
  for (let index = 0; index < keys; index += 1)
    apiKeys.push((await credentials.createApiKey({ teamId, name: `bench ${index}`, createdBy: null })).apiKey);
  if (changesPerSecond > 0) {
    const startedAt = performance.now();
    let published = 0;
    setInterval(() => {
      // By the time that has passed, so that a late timer loses no change.
      const due = Math.floor(((performance.now() - startedAt) / 1000) * changesPerSecond);
      for (; published < due; published += 1) events.publish({ teamId, type: 'router.changed', data: changeOf(published) });
    }, TURN_MS);
  }
  return { url: server.url, apiKeys };
}

/** As long as a real one. */
function changeOf(number: number): Record<string, unknown> {
  return {
    number,
    router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
    identity: `gw-${number % 997}`,
    agent_id: '01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35',
    state: number % 2 === 0 ? 'answering' : 'not_answering',
    state_since: '2031-05-01T08:30:00.000Z',
    state_reason: number % 2 === 0 ? null : 'timeout',
  };
}
