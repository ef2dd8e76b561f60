import type { UnmanagedRouter } from '../protocol/index.ts';
import { cleanText } from '../routeros-text/router-text.ts';
import type { AgentConfig } from './config.ts';
import { readNamedFile } from './core/file-errors.ts';
import { tryStateFolder } from './core/state-folder.ts';
import { httpGet } from './link/http-get.ts';
import { readCredentials } from './link/credentials.ts';
import { waitsForFirstStart } from './link/first-start.ts';
import { fetchUnmanaged } from './link/unmanaged.ts';
import { checkRouter } from './routers/check/index.ts';
import type { CheckRow } from './routers/check/index.ts';

/** Runs `signalbox-agent check`: tests this machine, then the control plane and every router at the same time. Never throws. */
export async function checkAgent(config: AgentConfig): Promise<CheckRow[]> {
  const state = await row('agent', 'state', async () => {
    await tryStateFolder(config.state);
    return config.state;
  });
  const [server, ...routers] = await Promise.all([
    checkServer(config),
    ...config.routers.map((router) => checkRouter(router, { stateFolder: config.state, terminal: config.terminal })),
  ]);
  const ofRouters = config.routers.flatMap(({ name }, index) => [
    ...(routers[index] ?? []),
    ...server.unmanaged.filter((each) => each.router === name),
  ]);
  return [state, ...server.rows, ...ofRouters];
}

interface ServerRows {
  rows: CheckRow[];
  /** One row for each router that is not managed through this agent. */
  unmanaged: CheckRow[];
}

async function checkServer(config: AgentConfig): Promise<ServerRows> {
  let enrolled = false;
  const credentials = await row('control plane', 'credentials', async () => {
    const found = await findCredentials(config);
    enrolled = found.enrolled;
    return found.detail;
  });
  const reachable = await row('control plane', 'reachable', async () => {
    const { status } = await httpGet({ server: config.server, path: '/healthz', ca: await readCa(config) });
    if (status !== 200) throw new Error(`${config.server} answers ${status}`);
    return config.server;
  });
  if (!enrolled || !reachable.ok) return { rows: [credentials, reachable], unmanaged: [] };
  const { accepted, unmanaged } = await checkAcceptance(config);
  return { rows: [credentials, reachable, accepted], unmanaged };
}

/** Whether the control plane accepts this agent, and which of its routers it does not manage through it. */
async function checkAcceptance(config: AgentConfig): Promise<{ accepted: CheckRow; unmanaged: CheckRow[] }> {
  let reported: UnmanagedRouter[] | undefined;
  const accepted = await row('control plane', 'accepted', async () => {
    reported = await fetchUnmanaged(config.server, await readCredentials(config.credentials), await readCa(config));
    return reported
      ? 'the control plane accepts this agent'
      : 'unknown: this control plane is too old to report which routers wait for approval';
  });
  const unmanaged = (reported ?? []).map((router) => ({
    router: router.name,
    what: 'managed',
    ok: false,
    detail: describeUnmanaged(router),
  }));
  return { accepted: accepted.ok && !reported ? { ...accepted, warning: true } : accepted, unmanaged };
}

/** Cleaned, because the text comes from another machine and goes to a terminal. */
function describeUnmanaged({ hardware_id: hardwareId, reason }: UnmanagedRouter): string {
  return cleanText(`${hardwareId} ${reason} (no commands, jobs, backups or forwards until then)`, 1500);
}

async function readCa({ server_ca: file }: AgentConfig): Promise<string | undefined> {
  return file === undefined ? undefined : readNamedFile('server_ca', file);
}

async function findCredentials({ credentials, enrol_token_file: tokenFile }: AgentConfig): Promise<{ enrolled: boolean; detail: string }> {
  if (tokenFile !== undefined && (await waitsForFirstStart(tokenFile, credentials))) {
    return { enrolled: false, detail: `none yet: the first run enrols with the token in ${tokenFile}` };
  }
  return { enrolled: true, detail: `agent ${(await readCredentials(credentials)).agent_id}` };
}

async function row(router: string, what: string, find: () => Promise<string>): Promise<CheckRow> {
  try {
    return { router, what, ok: true, detail: await find() };
  } catch (error) {
    return { router, what, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}
