import type { Cluster, Platform } from '../../feature.ts';
import type { Log } from '../../platform/core/log.ts';
import { setDraining } from '../../platform/nodes/administration.ts';
import { selectNodes } from '../../platform/nodes/store.ts';
import type { NodeRecord } from '../../platform/nodes/store.ts';
import type { NodeView } from './types.ts';

export interface NodesDeps extends Pick<Platform, 'storage'> {
  cluster: Cluster | null;
  log: Log;
}

/** The control planes of the database, for its operator. On SQLite there is one, which has no row. */
export class NodesService {
  /** Null for a control plane that serves its database alone. */
  readonly cluster: Cluster | null;
  readonly #deps: NodesDeps;

  constructor(deps: NodesDeps) {
    this.#deps = deps;
    this.cluster = deps.cluster;
  }

  async list(): Promise<NodeView[]> {
    return (await selectNodes(this.#deps.storage.db)).map((node) => this.#viewOf(node));
  }

  /** @throws AppError `not_found`; `conflict` for one that serves the database alone, and for the last one that takes work */
  async setDraining(id: string, isDraining: boolean): Promise<NodeView> {
    const node = await setDraining(this.#deps.storage, id, isDraining);
    this.#deps.log.info(
      { reason: node.name },
      isDraining ? 'a control plane was told to give its work to the others' : 'a control plane was told to take work',
    );
    return this.#viewOf(node);
  }

  #viewOf(node: NodeRecord): NodeView {
    const { cluster } = this;
    return {
      id: node.id,
      name: node.name,
      publicUrl: node.public_url,
      version: node.version,
      state: node.state,
      tunnels: node.tunnels,
      clients: node.clients,
      isOnBus: node.on_bus === 1,
      beatAgeMs: cluster?.beatAgeMs(node.id) ?? null,
      startedAt: node.started_at,
      isOwn: cluster?.nodeId === node.id,
    };
  }
}
