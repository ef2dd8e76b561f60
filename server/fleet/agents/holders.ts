import type { Cluster } from '../../feature.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { ToldFacts } from '../../platform/nodes/told-facts.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { HAVE_HOLDERS_CHANGED, selectChangedHolders, selectHolders } from './holders/store.ts';
import type { HolderRow } from './holders/store.ts';

/** An agent that has had a tunnel and has none now. */
export interface LostAgent {
  /** When this control plane noticed, milliseconds of monotonic time: the usual time to come back counts from here. */
  noticedAt: number;
  /** When its tunnel ended as far as is known, milliseconds since 1970. */
  since: number;
  /** The control plane that had the tunnel has recorded its end. Otherwise it was killed, and how the tunnel ended is unknown. */
  isRecorded: boolean;
}

export interface HolderChange {
  agentId: string;
  /** The control plane that has its tunnel now; undefined when none has. */
  nodeId: string | undefined;
}

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  cluster: Pick<Cluster, 'nodeId' | 'bus' | 'looks' | 'members' | 'gone'>;
}

/**
 * Which control plane has each agent's tunnel, for those that serve a database together. Known at once by hints, and by a look every five
 * seconds. It may be wrong for as long, so that it decides what people are shown and who does what, and never what may be written.
 */
export class AgentHolders {
  readonly changes = new Listeners<HolderChange>();
  readonly #deps: Deps;
  readonly #told: ToldFacts;
  readonly #held = new Map<string, string>();
  readonly #lost = new Map<string, LostAgent>();
  #mark: ChangeMark;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { clock, log, cluster, storage } = deps;
    this.#told = new ToldFacts({
      cluster,
      clock,
      log,
      subject: 'signalbox.facts.agents',
      failure: 'which control planes have the tunnels of agents could not be read',
      asks: HAVE_HOLDERS_CHANGED,
      readChanged: async () => {
        const { rows, mark } = await selectChangedHolders(storage.db, this.#mark);
        this.#apply(rows);
        this.#mark = mark;
      },
      readOf: async (ids) => this.#apply(await selectHolders(storage.db, ids)),
    });
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.#deps.cluster.gone.subscribe((nodeId) => this.#onGone(nodeId));
    await this.#told.start();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#told.stop();
  }

  /** The control plane that has the agent's tunnel; undefined when none has. */
  holderOf(agentId: string): string | undefined {
    return this.#held.get(agentId);
  }

  /** Another control plane has its tunnel. */
  isElsewhere(agentId: string): boolean {
    const holder = this.#held.get(agentId);
    return holder !== undefined && holder !== this.#deps.cluster.nodeId;
  }

  /** The control planes that have the tunnels of these agents, as stored: for what must not be decided by what was known a moment ago. */
  async readHolders(agentIds: readonly string[]): Promise<Map<string, string>> {
    const rows = agentIds.length === 0 ? [] : await selectHolders(this.#deps.storage.db, agentIds);
    return new Map(rows.filter(isHeld).map(({ id, node_id: nodeId }) => [id, nodeId!]));
  }

  /** Undefined while it is connected, and before its first connection. */
  lost(agentId: string): LostAgent | undefined {
    return this.#lost.get(agentId);
  }

  get lostAgents(): Iterable<string> {
    return this.#lost.keys();
  }

  /** Nobody has its tunnel, and this control plane is the one that watches it meanwhile. */
  isOwnAway(agentId: string): boolean {
    return this.#lost.has(agentId) && this.#deps.cluster.members.isOwn(agentId);
  }

  /** A tunnel of this control plane has become ready or has ended, and that is stored: the others shall know. */
  onStored(agentId: string): void {
    this.#told.tell([agentId]);
    this.#told.want([agentId]);
  }

  #apply(rows: readonly HolderRow[]): void {
    for (const row of rows) {
      if (isHeld(row)) this.#hold(row.id, row.node_id!);
      else if (row.connected_at !== null) this.#lose(row.id, row.disconnected_at);
    }
  }

  #hold(agentId: string, nodeId: string): void {
    if (this.#held.get(agentId) === nodeId) return;
    this.#lost.delete(agentId);
    this.#held.set(agentId, nodeId);
    this.changes.publish({ agentId, nodeId });
  }

  /** @param endedAt undefined or null when nobody has recorded the end of its tunnel */
  #lose(agentId: string, endedAt: number | null): void {
    const known = this.#lost.get(agentId);
    if (known && (known.isRecorded || endedAt === null)) return;
    const { clock } = this.#deps;
    this.#held.delete(agentId);
    this.#lost.set(agentId, {
      noticedAt: known?.noticedAt ?? clock.monotonic(),
      since: endedAt ?? clock.now(),
      isRecorded: endedAt !== null,
    });
    if (!known) this.changes.publish({ agentId, nodeId: undefined });
  }

  #onGone(nodeId: string): void {
    for (const [agentId, holder] of this.#held) if (holder === nodeId) this.#lose(agentId, null);
  }
}

function isHeld(row: HolderRow): boolean {
  return row.is_live && row.node_id !== null && row.connected_at !== null && row.disconnected_at === null;
}
