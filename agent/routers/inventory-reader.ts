import { cleanText } from '../../routeros-text/router-text.ts';
import { plainVersion } from '../../routeros-text/versions.ts';
import type { Deadline } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { RouterFacts, RouterRow } from './adapter.ts';
import { inventoryLines, parseConsoleFacts, parseFacts, parseSections, uptimeSeconds } from './inventory.ts';
import type { RouterOsApi } from './routeros-api/index.ts';
import type { SshSession } from './ssh/index.ts';

/** Reads a router's inventory over one kind of session. */
export interface InventoryReader<S> {
  /** Reads the full inventory. @throws AgentError */
  read(session: S, deadline: Deadline): Promise<RouterFacts>;
  /** Reads the cheap part, which serves as ping and shows when the full inventory must be read again. @throws AgentError */
  probe(session: S, deadline: Deadline): Promise<ProbeResult>;
}

export interface ProbeResult {
  uptime: string;
  uptimeSeconds: number | null;
  softwareVersion: string;
  identity: string;
}

/** Largest console output, far above that of these menus. */
const CONSOLE_BYTES = 64 * 1024;

const FEW = { maxRows: 100, maxBytes: 256 * 1024 };

async function firstRow(api: RouterOsApi, path: string, deadline: Deadline, words: string[] = []): Promise<RouterRow> {
  const { rows } = await api.command({ path, words }, { ...deadline, limits: FEW });
  return rows[0] ?? {};
}

/** Undefined when this version or board does not have the menu. */
async function optionalRow(api: RouterOsApi, path: string, deadline: Deadline): Promise<RouterRow | undefined> {
  try {
    return await firstRow(api, path, deadline);
  } catch (error) {
    if (error instanceof AgentError && error.code === 'rejected') return undefined;
    throw error;
  }
}

function toProbeResult(resource: RouterRow, identity: RouterRow): ProbeResult {
  const uptime = resource['uptime'] ?? '';
  return {
    uptime,
    uptimeSeconds: uptimeSeconds(uptime),
    softwareVersion: plainVersion(cleanText(resource['version'] ?? '', 64)),
    identity: cleanText(identity['name'] ?? '', 255),
  };
}

export const apiReader: InventoryReader<RouterOsApi> = {
  async read(api, deadline) {
    const [resource, identity, routerboard, license, clock] = await Promise.all([
      firstRow(api, '/system/resource/print', deadline, ['=.proplist=uptime,version,board-name,architecture-name,platform']),
      firstRow(api, '/system/identity/print', deadline),
      optionalRow(api, '/system/routerboard/print', deadline),
      optionalRow(api, '/system/license/print', deadline),
      optionalRow(api, '/system/clock/print', deadline),
    ]);
    return parseFacts({ resource, identity, routerboard, license, clock });
  },

  async probe(api, deadline) {
    const [resource, identity] = await Promise.all([
      firstRow(api, '/system/resource/print', deadline, ['=.proplist=uptime,version']),
      firstRow(api, '/system/identity/print', deadline),
    ]);
    return toProbeResult(resource, identity);
  },
};

export const sshReader: InventoryReader<SshSession> = {
  async read(ssh, deadline) {
    const outputs: string[] = [];
    for (const line of inventoryLines()) {
      outputs.push((await ssh.exec(line, { ...deadline, maxBytes: CONSOLE_BYTES })).text);
    }
    return parseConsoleFacts(outputs.join('\n'));
  },

  async probe(ssh, deadline) {
    const { text } = await ssh.exec(inventoryLines()[0]!, { ...deadline, maxBytes: CONSOLE_BYTES });
    const { resource = {}, identity = {} } = parseSections(text);
    return toProbeResult(resource, identity);
  },
};
