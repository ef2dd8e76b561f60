import { MAX_SENSORS } from '../../protocol/index.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import { parseClock } from '../../routeros-text/clock.ts';
import type { Clock } from '../core/clock.ts';
import type { RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { buildDeviceTable, countDevices, countUnclean } from './device-table.ts';
import type { DeviceTable } from './device-table.ts';
import { readPosition } from './gps.ts';
import { readHealth, readResources } from './health.ts';
import { Cleaner } from './cleaner.ts';
import { readMenu, sampleOnce } from './menus.ts';
import { readBadDisks, readPoe, readSignals } from './hardware.ts';
import { findWanInterfaces, readWan } from './wan.ts';

/** Limit of devices, above that of any site: a flood of fake addresses must not fill the agent's memory. */
const MAX_DEVICES = 20_000;
/** How often to re-read what rarely changes, in milliseconds: WAN interfaces, missing sensors or receivers. */
const RECHECK_MS = 10 * 60_000;

/** Reads a router's health and devices. Remembers which menus it does not have. */
export class RouterReader {
  readonly #router: RouterAdapter;
  readonly #clock: Clock;
  /** Menus that the router refused, with the time of the next try. */
  readonly #absent = new Map<string, number>();
  #wan: { names: string[]; until: number } | undefined;
  /** Number of cleaned names and addresses in the last reading of the devices. */
  uncleanDevices = 0;
  /** Number of cleaned names and states in the last reading of the health. */
  uncleanHealth = 0;
  /** Number of devices at the last reading, when the table does not hold them all. */
  devicesInAll: number | undefined;

  constructor(router: RouterAdapter, clock: Clock) {
    this.#router = router;
    this.#clock = clock;
  }

  /** @throws AgentError when the router does not answer */
  async readHealth(signal: AbortSignal): Promise<HealthReadings> {
    const router = this.#router;
    const cleaner = new Cleaner();
    const resource = await readMenu(router, { menu: '/system/resource', properties: RESOURCES }, signal);
    const readings = {
      ...readResources(resource?.[0] ?? {}),
      ...readHealth((await this.#unlessAbsent('/system/health', () => this.#sensors(signal))) ?? [], cleaner),
      ...(await this.#hardware(signal, cleaner)),
      clock_offset_seconds: await this.#clockOffset(signal),
      wan: await readWan(router, await this.#wanNames(signal), signal, cleaner),
      position: readPosition(await this.#unlessAbsent('/system/gps', () => sampleOnce(router, '/system/gps/monitor', signal))),
    };
    this.uncleanHealth = cleaner.count;
    return readings;
  }

  /** @returns undefined when the router's user may read neither table @throws AgentError when the router does not answer */
  async readDevices(signal: AbortSignal): Promise<DeviceTable | undefined> {
    const arp = await readMenu(this.#router, { menu: '/ip/arp', properties: ARP, flags: ARP_FLAGS }, signal);
    const leases = await readMenu(this.#router, { menu: '/ip/dhcp-server/lease', properties: LEASE, flags: LEASE_FLAGS }, signal);
    this.uncleanDevices = countUnclean(arp ?? [], leases ?? []);
    if (!arp && !leases) return undefined;
    const table = buildDeviceTable(arp ?? [], leases ?? [], MAX_DEVICES);
    const inAll = table.size < MAX_DEVICES ? table.size : countDevices(arp ?? [], leases ?? []);
    this.devicesInAll = inAll > table.size ? inAll : undefined;
    return table;
  }

  #sensors(signal: AbortSignal): Promise<RouterRow[] | undefined> {
    const isList = Number.parseInt(this.#router.state().facts?.softwareVersion ?? '7', 10) >= 7;
    // v6 has a property per sensor, which depends on the board: read all of them.
    return readMenu(this.#router, { menu: '/system/health', properties: [], ...(isList ? { flags: {} } : {}) }, signal);
  }

  /** Reads menus that few boards have. Absent or empty menus are read again only at intervals. */
  async #hardware(signal: AbortSignal, cleaner: Cleaner): Promise<Pick<HealthReadings, 'poe' | 'bad_disks' | 'signals'>> {
    const router = this.#router;
    const poe = await this.#unlessAbsent('/interface/ethernet/poe', () => readPoe(router, signal, cleaner));
    const lte = await this.#unlessAbsent('/interface/lte', () => readSignals(router, 'lte', signal, cleaner));
    const wireless = await this.#unlessAbsent('/interface/wireless/registration-table', () =>
      readSignals(router, 'wireless', signal, cleaner),
    );
    const disks = await this.#unlessAbsent('/disk', () => readBadDisks(router, signal, cleaner));
    return {
      ...(poe ? { poe } : {}),
      ...(lte || wireless ? { signals: [...(lte ?? []), ...(wireless ?? [])].slice(0, MAX_SENSORS) } : {}),
      ...(disks ? { bad_disks: disks } : {}),
    };
  }

  /** Seconds that the router's clock is ahead. Assumes the reading at the middle of the wait, half a second into the shown second. */
  async #clockOffset(signal: AbortSignal): Promise<number | null> {
    const before = this.#clock.now();
    const rows = await readMenu(this.#router, { menu: '/system/clock', properties: ['date', 'time', 'gmt-offset'] }, signal);
    const after = this.#clock.now();
    const shown = parseClock(rows?.[0] ?? {});
    // `+ 0` turns -0 into 0.
    return shown === undefined ? null : Math.round((shown + 500 - (before + after) / 2) / 1000) + 0;
  }

  async #wanNames(signal: AbortSignal): Promise<string[]> {
    const now = this.#clock.monotonic();
    if (!this.#wan || this.#wan.until <= now) {
      this.#wan = { names: await findWanInterfaces(this.#router, signal), until: now + RECHECK_MS };
    }
    return this.#wan.names;
  }

  /** Skips absent menus, which would fill the router's log with refusals. */
  async #unlessAbsent<T>(menu: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    if ((this.#absent.get(menu) ?? 0) > this.#clock.monotonic()) return undefined;
    const answer = await read();
    if (answer === undefined) this.#absent.set(menu, this.#clock.monotonic() + RECHECK_MS);
    return answer;
  }
}

const RESOURCES = ['cpu-load', 'free-memory', 'total-memory', 'free-hdd-space', 'total-hdd-space', 'bad-blocks'];
const ARP = ['address', 'mac-address', 'interface', 'status', 'complete', 'invalid', 'disabled'];
const ARP_FLAGS = { X: 'disabled', I: 'invalid', C: 'complete' };
const LEASE = ['address', 'mac-address', 'status', 'host-name', 'last-seen', 'active-address', 'active-mac-address'];
const LEASE_FLAGS = { X: 'disabled' };
