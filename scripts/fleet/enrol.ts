import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ENROL_PATH } from '../../protocol/index.ts';
import type { PlannedAgent, PlannedSite } from './plan.ts';

export interface Credentials {
  agent_id: string;
  secret: string;
}

/** How many agents are enrolled at once. */
const AT_ONCE = 16;
/** Of one request. */
const TIMEOUT_MS = 30_000;

/** An administrator's access to the public interface. */
export class Administrator {
  readonly #server: string;
  readonly #key: string;

  constructor(server: string, key: string) {
    this.#server = server.replace(/\/+$/, '');
    this.#key = key;
  }

  /** Waits as long as the control plane says when there were too many requests. @throws Error with the answer's `detail` */
  async call<T>(method: string, route: string, body?: object, key = this.#key): Promise<T> {
    for (;;) {
      const answer = await fetch(this.#server + route, {
        method,
        headers: { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.status === 429 || answer.status === 503) {
        await answer.body?.cancel();
        await pause(1000 * Number(answer.headers.get('retry-after') ?? 1));
        continue;
      }
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text.slice(0, 300)}`);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    }
  }

  /** @returns the sites' ids by name; those that are missing are made */
  async sites(planned: readonly PlannedSite[]): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    const { data } = await this.call<{ data: { id: string; name: string }[] }>('GET', '/api/sites?limit=500');
    for (const { id, name } of data) ids.set(name, id);
    for (const { name, latitude, longitude, time_zone } of planned) {
      if (ids.has(name)) continue;
      const made = await this.call<{ data: { id: string } }>('POST', '/api/sites', { name, latitude, longitude, time_zone });
      ids.set(name, made.data.id);
    }
    return ids;
  }

  async enrol(name: string, siteId: string | null): Promise<Credentials> {
    const { data } = await this.call<{ data: { token: string } }>('POST', '/api/enrol-tokens', siteId === null ? {} : { site_id: siteId });
    return this.call<Credentials>('POST', ENROL_PATH, { token: data.token, name }, '');
  }
}

/**
 * Credentials of all agents: those in `file` from an earlier run, and new ones for the rest.
 * @param sites also makes the agents' sites, with their places
 */
export async function enrolAll(
  agents: readonly PlannedAgent[],
  { administrator, file, sites }: { administrator: Administrator; file: string; sites: boolean },
): Promise<Credentials[]> {
  const known = await readKnown(file);
  const siteIds = sites ? await administrator.sites(agents.map(({ site }) => site)) : new Map<string, string>();
  const waiting = agents.map((agent, index) => ({ agent, index })).filter(({ index }) => known[index] === undefined);
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      known[next.index] = await administrator.enrol(next.agent.name, siteIds.get(next.agent.site.name) ?? null);
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  } finally {
    await writeFile(file, JSON.stringify(known), { mode: 0o600 });
  }
  return known.slice(0, agents.length) as Credentials[];
}

async function readKnown(file: string): Promise<(Credentials | undefined)[]> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as (Credentials | null)[]).map((one) => one ?? undefined);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
