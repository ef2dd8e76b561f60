import type { AgentConfig } from './config.ts';
import { readNamedFile } from './core/file-errors.ts';
import { tryStateFolder } from './core/state-folder.ts';
import { readCredentials } from './link/credentials.ts';
import { waitsForFirstStart } from './link/first-start.ts';
import { reachServer } from './link/reach.ts';
import { checkRouter } from './routers/check/index.ts';
import type { CheckRow } from './routers/check/index.ts';

/** Everything `signalbox-agent check` tries: this machine, the control plane, then every router, all at once. Never throws. */
export async function checkAgent(config: AgentConfig): Promise<CheckRow[]> {
  const state = await row('agent', 'state', async () => {
    await tryStateFolder(config.state);
    return config.state;
  });
  const [server, ...routers] = await Promise.all([
    checkServer(config),
    ...config.routers.map((router) => checkRouter(router, { stateFolder: config.state })),
  ]);
  return [state, ...server, ...routers.flat()];
}

async function checkServer(config: AgentConfig): Promise<CheckRow[]> {
  return [
    await row('control plane', 'credentials', () => findCredentials(config)),
    await row('control plane', 'reachable', async () => {
      const ca = config.server_ca === undefined ? undefined : await readNamedFile('server_ca', config.server_ca);
      const status = await reachServer(config.server, ca);
      if (status !== 200) throw new Error(`${config.server} answers ${status}`);
      return config.server;
    }),
  ];
}

async function findCredentials({ credentials, enrol_token_file: tokenFile }: AgentConfig): Promise<string> {
  if (tokenFile !== undefined && (await waitsForFirstStart(tokenFile, credentials))) return `none yet: the first run enrols with ${tokenFile}`;
  return `agent ${(await readCredentials(credentials)).agent_id}`;
}

async function row(router: string, what: string, find: () => Promise<string>): Promise<CheckRow> {
  try {
    return { router, what, ok: true, detail: await find() };
  } catch (error) {
    return { router, what, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}
