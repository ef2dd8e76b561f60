import type { Health } from '../../../protocol/index.ts';
import type { CatalogService } from '../catalog/service.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { selectPosition, selectSiteFacts, upsertPosition } from './store.ts';
import type { Location, Position, RouterMetadata, SiteFacts } from './types.ts';

/** About 30 m: the most that the readings of a stationary receiver drift. */
const MOVED_DEGREES = 0.0003;

export interface MetadataDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  routers: Pick<RoutersService, 'getRouter' | 'routerIdOf' | 'presence'>;
  catalog: Pick<CatalogService, 'describe'>;
  /** Where several control planes serve the database: the source address of an agent's tunnel with another one. */
  addressElsewhere?: ((teamId: string, agentId: string) => Promise<string | null>) | undefined;
}

/** Further facts about a router: its location, its pictures, and the address of its tunnel. */
export class MetadataService {
  readonly #deps: MetadataDeps;
  /** Source addresses of the tunnels of connected agents. */
  readonly #tunnelAddresses = new Map<string, string>();
  /**
   * Where several control planes serve the database: during which tunnels positions were stored here. Of another tunnel, what is remembered
   * says nothing: another control plane may have had the agent meanwhile.
   */
  readonly #positionEpochs = new Map<string, number>();
  /** Positions as last stored, so that a stationary receiver causes no writes. */
  readonly #positions = new Map<string, Position>();
  /** The latest reading of routers whose position is being stored. */
  readonly #latest = new Map<string, Position>();

  constructor(deps: MetadataDeps) {
    this.#deps = deps;
  }

  onReady(connection: AgentConnection): void {
    this.#tunnelAddresses.set(connection.agentId, connection.address);
  }

  onGone(connection: AgentConnection): void {
    this.#tunnelAddresses.delete(connection.agentId);
  }

  /** The router was removed or replaced; its position passes to its successor. */
  forget(routerId: string, successorId?: string): void {
    const position = this.#positions.get(routerId);
    this.#positions.delete(routerId);
    this.#positionEpochs.delete(routerId);
    if (successorId === undefined) return;
    this.#positions.delete(successorId);
    if (position) this.#positions.set(successorId, position);
  }

  /** A reading with a position, if the router has a receiver and a fix. */
  onHealth({ agentId, epoch }: AgentConnection, { router, readings }: Health): void {
    const routerId = this.#deps.routers.routerIdOf(agentId, router);
    if (routerId === undefined || readings.position === null) return;
    if (this.#deps.addressElsewhere && this.#positionEpochs.get(routerId) !== epoch) {
      this.#positionEpochs.set(routerId, epoch);
      this.#positions.delete(routerId);
    }
    const isStoring = this.#latest.has(routerId);
    this.#latest.set(routerId, readings.position);
    if (!isStoring) void this.#storeLatest(routerId);
  }

  /** While one reading is being stored, only the latest of those that follow is kept. Never rejects. */
  async #storeLatest(routerId: string): Promise<void> {
    let stored: Position | undefined;
    try {
      for (let next = this.#latest.get(routerId); next !== undefined && next !== stored; next = this.#latest.get(routerId)) {
        await this.onPosition(routerId, next);
        stored = next;
      }
    } catch (error) {
      // The next reading tries again.
      this.#deps.log.warn({ err: error, router_id: routerId }, 'a position could not be stored');
    } finally {
      this.#latest.delete(routerId);
    }
  }

  /** The router's GPS receiver has a fix. */
  async onPosition(routerId: string, position: Position): Promise<void> {
    const known = this.#positions.get(routerId);
    if (known && !hasMoved(known, position)) return;
    await this.#deps.storage.writes.write((tx) => upsertPosition(tx, routerId, position, this.#deps.clock.now()));
    this.#positions.set(routerId, position);
  }

  /** @throws AppError `not_found` */
  async getMetadata(teamId: string, routerId: string): Promise<RouterMetadata> {
    const { routers, catalog } = this.#deps;
    const router = await routers.getRouter(teamId, routerId);
    const site = await this.#site(router);
    const product = catalog.describe({ model: router.model, boardName: router.board_name });
    return {
      name: router.identity,
      // As with the position: what people have entered takes precedence over the router.
      timeZone: site?.timeZone ?? router.time_zone ?? null,
      boardName: router.board_name,
      model: router.model,
      hardwareBoard: router.hardware_board === 1,
      banner: product.banner,
      thumbnail: product.thumbnail,
      slug: product.slug,
      lastSeenFrom: routers.presence.get(router.id).lastSeenFrom,
      location: await this.#locate(router.id, site),
      tunnelAddress: await this.#tunnelAddress(router),
    };
  }

  async #tunnelAddress({ team_id: teamId, agent_id: agentId }: RouterRecord): Promise<string | null> {
    return this.#tunnelAddresses.get(agentId) ?? (await this.#deps.addressElsewhere?.(teamId, agentId)) ?? null;
  }

  async #site({ team_id: teamId, site_id: siteId }: RouterRecord): Promise<SiteFacts | undefined> {
    return siteId === null ? undefined : selectSiteFacts(this.#deps.storage.db, teamId, siteId);
  }

  /** What people have entered takes precedence over the GPS receiver. */
  async #locate(routerId: string, site: SiteFacts | undefined): Promise<Location | null> {
    if (site?.position) return { ...site.position, origin: 'site' };
    const position = await selectPosition(this.#deps.storage.db, routerId);
    return position ? { ...position, origin: 'gps' } : null;
  }
}

function hasMoved(from: Position, to: Position): boolean {
  return Math.abs(from.latitude - to.latitude) > MOVED_DEGREES || Math.abs(from.longitude - to.longitude) > MOVED_DEGREES;
}
