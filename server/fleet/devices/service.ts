import type { Devices, SeenDevice } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { RoutersService } from '../routers/service.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { removeInBatches } from '../../platform/core/removal-batches.ts';
import { newestDevice, toDevices } from './assemble.ts';
import { FollowedRouters } from './followed-routers.ts';
import { DeviceLimits } from './limits.ts';
import type { DeviceRules } from './limits.ts';
import * as list from './list/store.ts';
import { macFragment } from './mac.ts';
import type { Manufacturers } from './manufacturers.ts';
import * as store from './store.ts';
import type { Device, DeviceFilter, DeviceScope, ListedDevice } from './types.ts';
import { FirstReports } from './whole-report/first-reports.ts';
import { compareWithStored, markUnreported } from './whole-report/store.ts';
import { UnchangedReports } from './whole-report/unchanged.ts';

/** How often the last-seen times are stored; memory holds the exact ones. */
const CONFIRM_EVERY_MS = 10 * 60_000;
/** Phones change their address every day: devices without an alias are deleted after half a year without a sighting. */
const KEEP_MS = 182 * 24 * 3_600_000;
const FORGET_EVERY_MS = 24 * 3_600_000;

export interface DevicesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  routers: Pick<RoutersService, 'routerIdOf' | 'presence'>;
  manufacturers: Pick<Manufacturers, 'lookup'>;
  /** Where several control planes serve the database: whether another one has the tunnel of the router's agent. */
  isElsewhere?: ((routerId: string) => boolean) | undefined;
  counters?: Counters;
  /** How long a device without an alias is kept after it was seen last, milliseconds. */
  keepMs?: number;
  /** How far statements for agents are apart when many connect (AGENTS_APART_MS); 0 unless given. */
  agentsApartMs?: number;
  /** For tests. */
  rules?: DeviceRules;
  /** Called with every report: the router's total when it has more devices than its agent reports, else null. Must not throw. */
  onTotal?: (routerId: string, total: number | null) => void;
}

/** Spellings of a MAC address, for searches beyond devices. */
export { macFragment } from './mac.ts';

/** The devices behind the routers, as agents report them from ARP tables and DHCP leases, and their aliases. */
export class DevicesService {
  readonly #deps: DevicesDeps;
  readonly #limits: DeviceLimits;
  readonly #unchanged: UnchangedReports;
  readonly #followed = new FollowedRouters();
  /** Routers whose running report has lost a part. */
  readonly #damaged = new Set<string>();
  /** Routers with more devices than their agents report. */
  readonly #truncated = new Set<string>();
  readonly #sweeps: Periodic;
  #forgottenAt = Number.NEGATIVE_INFINITY;
  /** Writes in progress for disconnected agents. Never rejects. */
  #confirming: Promise<void> = Promise.resolve();

  constructor(deps: DevicesDeps) {
    this.#deps = deps;
    this.#limits = new DeviceLimits(deps.counters, deps.rules);
    const first = new FirstReports({ ...deps, limits: this.#limits });
    this.#unchanged = new UnchangedReports(deps.storage, deps.clock, deps.agentsApartMs ?? 0, first);
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: CONFIRM_EVERY_MS,
      failure: 'last-seen of devices could not be stored',
      run: (signal) => this.sweep(signal),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
    await this.#unchanged.stop();
    await this.#confirming;
    await this.#confirmAll();
  }

  /** The agent's tunnel has ended: its reports hold up to now. */
  onGone({ agentId }: AgentConnection): void {
    const routerIds = this.#followed.dropAgent(agentId);
    if (routerIds.length > 0) this.#confirming = this.#confirming.then(() => this.#confirm(routerIds));
  }

  /** The router was removed or replaced; its reports pass to its successor. */
  forget(routerId: string, successorId?: string): void {
    this.#truncated.delete(routerId);
    this.#followed.forget(routerId, successorId);
    if (this.#damaged.delete(routerId) && successorId !== undefined) this.#damaged.add(successorId);
  }

  /** @throws AppError when it cannot be stored: the rest of the report is then stored, but marks no device as gone */
  async onDevices(connection: AgentConnection, report: Devices): Promise<void> {
    const { routers } = this.#deps;
    const routerId = routers.routerIdOf(connection.agentId, report.router);
    if (routerId === undefined) return;
    if (report.kind === 'full' && report.first) this.#damaged.delete(routerId);
    try {
      await this.#store(connection, routerId, report);
    } catch (error) {
      this.#damaged.add(routerId);
      throw error;
    }
    if (report.last) this.#followed.add(connection.agentId, routerId);
    if (report.last || report.kind === 'delta') this.#recordTotal(routerId, report.total ?? null);
  }

  async #store({ agentId, teamId }: AgentConnection, routerId: string, report: Devices): Promise<void> {
    const sighted = await this.#toSighted(report.devices);
    const isWhole = report.kind === 'full' && report.first && report.last;
    if (isWhole && (await this.#unchanged.confirm({ agentId, teamId, routerId, sighted }))) return;
    const { storage } = this.#deps;
    await this.#limits.prepare(storage.db, teamId);
    const { scope, added } = await storage.writes.write(async (tx) => {
      // Read inside the transaction: the router may move to another site at any time.
      const here = await store.selectDeviceScope(tx, teamId, routerId);
      return { scope: here, added: await (isWhole ? this.#storeWhole(tx, here, sighted) : this.#storeReport(tx, here, report, sighted)) };
    });
    this.#limits.added(scope, added);
  }

  /** Routers with more devices than the limit, as agents have reported since the start. */
  get truncated(): number {
    return this.#truncated.size;
  }

  #recordTotal(routerId: string, total: number | null): void {
    if (total === null) this.#truncated.delete(routerId);
    else this.#truncated.add(routerId);
    this.#deps.onTotal?.(routerId, total);
  }

  /** A page of the devices, the newest first; of those that were found by a text, those first that were stored last. */
  async listDevices(teamId: string, { siteId, routerId, search }: DeviceFilter, page: Page): Promise<ListedDevice[]> {
    const { storage } = this.#deps;
    if (search === undefined) {
      const devices = await this.#assemble(await list.selectDevices(storage.db, teamId, { siteId, routerId }, page));
      return devices.map((device) => ({ device, at: device.firstSeenAt }));
    }
    const rows = await list.searchDevices(storage, { teamId, siteId, texts: spellings(search) }, page);
    const devices = await this.#assemble(rows);
    return devices.map((device, index) => ({ device, at: rows[index]!.n }));
  }

  /** The most recently seen one, if the team knows it at several sites. @throws AppError `not_found` */
  async getDevice(teamId: string, mac: string): Promise<Device> {
    const rows = await list.selectDevicesByMac(this.#deps.storage.db, teamId, mac);
    const device = newestDevice(await this.#assemble(rows));
    if (!device) throw notFound('device');
    return device;
  }

  /**
   * Sets the alias of a device at all sites of the team; an empty alias clears it.
   * @throws AppError `not_found` for a MAC address that no router of the team has seen
   */
  async setAlias(teamId: string, mac: string, alias: string): Promise<Device> {
    await this.getDevice(teamId, mac);
    const now = this.#deps.clock.now();
    await this.#deps.storage.writes.write((tx) =>
      alias === '' ? list.deleteAlias(tx, teamId, mac) : list.upsertAlias(tx, teamId, mac, alias, now),
    );
    return this.getDevice(teamId, mac);
  }

  /** Stores last-seen times, and once a day deletes devices not seen for a long time. Never rejects. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#confirmAll();
    if (now - this.#forgottenAt < FORGET_EVERY_MS) return;
    this.#forgottenAt = now;
    await this.#forget(now - (this.#deps.keepMs ?? KEEP_MS), signal).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'old devices could not be deleted');
    });
    // Reports that came meanwhile have counted what is deleted by now.
    this.#limits.forget();
  }

  async #forget(before: number, signal: AbortSignal | undefined): Promise<void> {
    const { storage } = this.#deps;
    let after = '';
    await removeInBatches(
      storage,
      async (tx, limit) => {
        const looked = await store.deleteForgotten(tx, { before, after, limit });
        after = looked.last ?? after;
        return looked.count;
      },
      { signal },
    );
    let behind = { teamId: '', mac: '' };
    await removeInBatches(
      storage,
      async (tx, limit) => {
        const looked = await store.deleteLostAliases(tx, { before, after: behind, limit });
        behind = looked.last ?? behind;
        return looked.count;
      },
      { signal },
    );
  }

  async #storeReport(tx: Tx, scope: DeviceScope, report: Devices, sighted: readonly store.SightedDevice[]): Promise<number> {
    const now = this.#deps.clock.now();
    const isFull = report.kind === 'full';
    const admitted = await this.#limits.admit(tx, scope, sighted);
    if (isFull && report.first) await store.beginReport(tx, scope);
    const added = await store.upsertSighted(tx, scope, admitted, now);
    await store.markGone(tx, scope, report.gone, now);
    if (isFull && report.last) await store.endReport(tx, scope, !this.#damaged.has(scope.routerId));
    if (!isFull || report.last) await store.confirmReports(tx, [{ routerId: scope.routerId, at: now }]);
    return added;
  }

  /** Only what differs from what is stored. @returns how many devices are new */
  async #storeWhole(tx: Tx, scope: DeviceScope, sighted: readonly store.SightedDevice[]): Promise<number> {
    const now = this.#deps.clock.now();
    await store.adoptFromRouter(tx, scope);
    const { changed, gone } = await compareWithStored(tx, scope, sighted);
    const added = await store.upsertSighted(tx, scope, await this.#limits.admit(tx, scope, changed), now);
    await markUnreported(tx, scope, gone);
    await store.confirmReports(tx, [{ routerId: scope.routerId, at: now }]);
    return added;
  }

  async #toSighted(devices: readonly SeenDevice[]): Promise<store.SightedDevice[]> {
    const now = this.#deps.clock.now();
    const manufacturerOf = devices.length === 0 ? () => null : await this.#manufacturers();
    // One statement cannot touch a row twice; the last entry counts.
    const byMac = new Map(devices.map((device) => [device.mac, device]));
    return [...byMac.values()].map((device) => toSighted(device, now, manufacturerOf(device.mac)));
  }

  /** Devices are stored even when their manufacturer is unknown. */
  async #manufacturers(): Promise<(mac: string) => string | null> {
    try {
      return await this.#deps.manufacturers.lookup();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the registry of manufacturers cannot be read');
      return () => null;
    }
  }

  async #confirmAll(): Promise<void> {
    await this.#confirm(this.#followed.all());
  }

  /** Never rejects: what could not be stored is stored next time. */
  async #confirm(routerIds: string[]): Promise<void> {
    const confirmed = routerIds.flatMap((routerId) => {
      const at = this.#deps.routers.presence.get(routerId).lastSeenAt;
      return at === null ? [] : [{ routerId, at }];
    });
    try {
      if (confirmed.length > 0) await this.#deps.storage.writes.write((tx) => store.confirmReports(tx, confirmed));
    } catch (error) {
      this.#deps.log.warn({ err: error, count: confirmed.length }, 'last-seen of devices could not be stored');
    }
  }

  /** Here, or by the control plane that has the agent's tunnel: agents report soon after they have connected. */
  #isFollowed(routerId: string): boolean {
    return this.#followed.has(routerId) || this.#deps.isElsewhere?.(routerId) === true;
  }

  async #assemble(rows: list.DeviceRow[]): Promise<Device[]> {
    const sightings = await list.selectSightings(
      this.#deps.storage.db,
      rows.map((row) => row.id),
    );
    const { presence } = this.#deps.routers;
    return toDevices(rows, sightings, (routerId) => (this.#isFollowed(routerId) ? presence.get(routerId).lastSeenAt : null));
  }
}

/** What a text may be a part of: the beginning of a MAC address has several spellings. */
function spellings(text: string): string[] {
  return [...new Set([text, macFragment(text) ?? text])];
}

function toSighted(device: SeenDevice, now: number, manufacturer: string | null): store.SightedDevice {
  const seenAt = now - (device.seen_ago ?? 0) * 1000;
  return {
    // From now, not from when it was seen, which may be long ago: ids of this process must only rise.
    newId: newId(now),
    mac: device.mac,
    hostname: device.hostname ?? null,
    manufacturer,
    ipAddress: device.ip ?? null,
    interface: device.interface ?? null,
    present: device.seen_ago === undefined,
    seenAt,
  };
}
