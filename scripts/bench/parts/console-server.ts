import { checkConfig } from '../../../server/config.ts';
import { startServer } from '../../../server/compose/start.ts';
import { quietLog } from '../quiet-log.ts';

export interface ConsoleServerOptions {
  /** With the filled database. */
  folder: string;
  teamId: string;
  /** Their states change in turns. */
  routerIds: readonly string[];
  changesPerSecond: number;
  email: string;
  password: string;
}

export interface ConsoleServerPart {
  url: string;
  apiKey: string;
  /** Whose events the tabs share: person and team, as `console/src/session/tokens.ts` names them. */
  holder: string;
}

const TURN_MS = 10;
const SINCE = '2031-05-01T08:30:00.000Z';

/** A control plane with the built web application, somebody who may sign in, and routers that change all the time. */
export async function startConsoleServerPart(options: ConsoleServerOptions): Promise<ConsoleServerPart> {
  const { folder, teamId, changesPerSecond } = options;
  const config = checkConfig({
    SIGNALBOX_LISTEN: '127.0.0.1:0',
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: `sqlite:${folder}/signalbox.db`,
    SIGNALBOX_SECRET_KEY_FILE: `${folder}/secret.key`,
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000000',
  });
  const server = await startServer(config, { log: quietLog });
  const { credentials, events, teams } = server.services;
  const { apiKey } = await credentials.createApiKey({ teamId, name: 'bench', createdBy: null });
  const { member } = await teams.createUser({ teamId, email: options.email, role: 'operator', password: options.password });
  if (changesPerSecond > 0) publishChanges(options, (data) => events.publish({ teamId, type: 'router.changed', data }));
  return { url: server.url, apiKey, holder: `${member.userId} ${teamId}` };
}

function publishChanges({ routerIds, changesPerSecond }: ConsoleServerOptions, publish: (data: Record<string, unknown>) => void): void {
  const startedAt = performance.now();
  let number = 0;
  setInterval(() => {
    // By the time that has passed, so that a late timer loses no change.
    const due = Math.floor(((performance.now() - startedAt) / 1000) * changesPerSecond);
    for (; number < due; number += 1) {
      // A prime step: neighbours in the list do not change one after the other.
      const index = (number * 7919) % routerIds.length;
      const isAway = Math.floor(number / routerIds.length) % 2 === 0;
      publish({
        number,
        router_id: routerIds[index],
        state: isAway ? 'agent_away' : 'never_seen',
        state_since: SINCE,
        state_reason: isAway ? 'silence' : null,
      });
    }
  }, TURN_MS);
}
