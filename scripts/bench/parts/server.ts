import { disablePretenuring } from '../../../runtime/pretenuring.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { startServer } from '../../../server/compose/start.ts';
import { checkConfig } from '../../../server/config.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { TeamsService } from '../../../server/access/teams/service.ts';
import { quietLog } from '../quiet-log.ts';

export interface ServerPartOptions {
  /** An empty folder for database and keys. */
  folder: string;
  tls?: { certFile: string; keyFile: string };
}

export interface ServerPart {
  url: string;
  apiKey: string;
  enrolToken: string;
}

/** The whole control plane with one team, as `signalbox serve` starts it. */
export async function startServerPart({ folder, tls }: ServerPartOptions): Promise<ServerPart> {
  disablePretenuring();
  const databaseUrl = `sqlite:${folder}/signalbox.db`;
  const config = checkConfig({
    SIGNALBOX_LISTEN: '127.0.0.1:0',
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000000',
    SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
    SIGNALBOX_FORWARD_PORTS: '30000-39999',
    ...(tls ? { SIGNALBOX_TLS_CERT_FILE: tls.certFile, SIGNALBOX_TLS_KEY_FILE: tls.keyFile } : {}),
  });
  const server = await startServer(config, { log: quietLog });
  const storage = await openStorage(databaseUrl, { log: quietLog });
  try {
    const team = await new TeamsService({ storage, clock: systemClock }).createTeam('bench');
    const { apiKey } = await server.services.credentials.createApiKey({ teamId: team.id, name: 'bench', createdBy: null });
    const { token } = await server.services.credentials.createEnrolToken({ teamId: team.id, siteId: null });
    return { url: server.url, apiKey, enrolToken: token };
  } finally {
    await storage.close();
  }
}
