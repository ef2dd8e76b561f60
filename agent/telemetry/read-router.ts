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

/** More devices than any site has; a router under a flood of made-up addresses must not fill the agent. */
const MAX_DEVICES = 20_000;
/** What seldom changes is looked up so often: which interfaces lead to the provider, whether there are sensors or a receiver. */
const RECHECK_MS = 10 * 60_000;

/** Reads what a router tells of itself beyond its inventory. Remembers which menus it does not have. */
export class RouterReader {
  readonly #router: RouterAdapter;
  readonly #clock: Clock;
  /** Menus that the router refused, until they are tried again. */
  readonly #absent = new Map<string, number>();
  #wan: { names: string[]; until: number } | undefined;
  /** Names and addresses of the last reading of the devices that had to be cleaned. */
  uncleanDevices = 0;
  /** Names and words of the last reading of the health that had to be cleaned. */
  uncleanHealth = 0;
  /** How many devices the router had at the last reading, when its table does not hold them all. */
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

  /** Undefined: the router's user may read neither table. @throws AgentError when the router does not answer */
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
    // v6 has a property per sensor, which differs by board: everything is read.
    return readMenu(this.#router, { menu: '/system/health', properties: [], ...(isList ? { flags: {} } : {}) }, signal);
  }

  /** Menus that few boards have; those that are absent or empty are asked again only now and then. */
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

  /** Seconds that the router is ahead; the answer is taken to be from the middle of the wait, its second half over. */
  async #clockOffset(signal: AbortSignal): Promise<number | null> {
    const before = this.#clock.now();
    const rows = await readMenu(this.#router, { menu: '/system/clock', properties: ['date', 'time', 'gmt-offset'] }, signal);
    const after = this.#clock.now();
    const shown = parseClock(rows?.[0] ?? {});
    // `+ 0`: a clock that is just behind is not -0 seconds ahead.
    return shown === undefined ? null : Math.round((shown + 500 - (before + after) / 2) / 1000) + 0;
  }

  async #wanNames(signal: AbortSignal): Promise<string[]> {
    const now = this.#clock.monotonic();
    if (!this.#wan || this.#wan.until <= now) {
      this.#wan = { names: await findWanInterfaces(this.#router, signal), until: now + RECHECK_MS };
    }
    return this.#wan.names;
  }

  /** A menu that is not there would otherwise fill the router's log with refusals. */
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
