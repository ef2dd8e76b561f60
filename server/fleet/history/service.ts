import { AppError } from '../../platform/core/errors.ts';
import type { Page } from '../../platform/core/page.ts';
import { hasRole } from '../../platform/core/principal.ts';
import type { Principal } from '../../platform/core/principal.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { RoutersService } from '../routers/service.ts';
import type { AgentsService } from '../agents/service.ts';
import { AGENT_SOURCES, selectNames, SOURCES } from './store.ts';
import { AGENT_HISTORY_KINDS, HISTORY_KINDS } from './types.ts';
import type { AgentHistoryKind, HistoryFilter, HistoryItem, HistoryKind } from './types.ts';

/** Keeps records in memory for a moment before it writes them. */
export interface Recorder {
  /** Resolves when the present records are stored, or could not be stored now. */
  stored(): Promise<void>;
}

export interface HistoryDeps {
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  agents: Pick<AgentsService, 'get'>;
  /** What writes the records of a kind. */
  recorders: Partial<Record<HistoryKind, Recorder>>;
}

/** The role that reads the audit log also reads here who did what. */
const READS_AUDIT = 'admin';

export interface NamedItem extends HistoryItem {
  /** Name of the key or agent, or address of the person. */
  by: string | null;
}

/** Everything that happened to one router, on one axis of time. */
export class HistoryService {
  readonly #deps: HistoryDeps;

  constructor(deps: HistoryDeps) {
    this.#deps = deps;
  }

  /**
   * One page, newest first. Who may not read the audit log gets no actions and no names.
   * @throws AppError `not_found`, also for another team's router; `forbidden` when only actions are requested, by a caller who may not
   *   read them
   */
  async list(caller: Principal, routerId: string, filter: HistoryFilter, page: Page): Promise<NamedItem[]> {
    const { storage, routers, recorders } = this.#deps;
    const { teamId } = caller;
    const router = await routers.getRouter(teamId, routerId, { orRemoved: true });
    const kinds = readableKinds(caller, filter.kinds);
    for (const kind of kinds) await recorders[kind]?.stored();
    const { id, agent_id: agentId, removed_at: removedAt, created_at: createdAt } = router;
    const ask = { teamId, routerId: id, agentId, createdAt, removedAt, from: filter.from, to: filter.to, page };
    const items: HistoryItem[] = [];
    for (const kind of kinds) items.push(...(await SOURCES[kind](storage.db, ask)));
    const shown = items.toSorted(newestFirst).slice(0, page.limit);
    const names = hasRole(caller, READS_AUDIT) ? await selectNames(storage.db, teamId, idsOf(shown)) : new Map<string, string>();
    return shown.map((item) => ({ ...item, by: item.byId === null ? null : (names.get(item.byId) ?? null) }));
  }

  /** One page of an agent's own history, newest first. @throws AppError `not_found`, also for another team's agent */
  async listOfAgent(
    { teamId }: Principal,
    agentId: string,
    { kinds, from, to }: HistoryFilter & { kinds: readonly AgentHistoryKind[] },
    page: Page,
  ): Promise<NamedItem[]> {
    const { storage, agents, recorders } = this.#deps;
    const { id, createdAt, removedAt } = await agents.get(teamId, agentId);
    const asked = kinds.length === 0 ? AGENT_HISTORY_KINDS : AGENT_HISTORY_KINDS.filter((kind) => kinds.includes(kind));
    const items: HistoryItem[] = [];
    for (const kind of asked) {
      await recorders[kind]?.stored();
      items.push(...(await AGENT_SOURCES[kind](storage.db, { teamId, agentId: id, createdAt, removedAt, from, to, page })));
    }
    return items
      .toSorted(newestFirst)
      .slice(0, page.limit)
      .map((item) => ({ ...item, by: null }));
  }
}

function readableKinds(caller: Principal, asked: readonly HistoryKind[]): readonly HistoryKind[] {
  const kinds = asked.length === 0 ? HISTORY_KINDS : HISTORY_KINDS.filter((kind) => asked.includes(kind));
  if (hasRole(caller, READS_AUDIT)) return kinds;
  const readable = kinds.filter((kind) => kind !== 'action');
  if (readable.length === 0) throw new AppError('forbidden', `people's actions need the role ${READS_AUDIT}, as the audit log does`);
  return readable;
}

/** As the stores order them, so that a page of each is enough for a page of all. */
function newestFirst(one: HistoryItem, other: HistoryItem): number {
  return other.at - one.at || (one.id < other.id ? 1 : -1);
}

function idsOf(items: readonly HistoryItem[]): string[] {
  return [...new Set(items.map(({ byId }) => byId).filter((id) => id !== null))];
}
