import { afterEach, describe, expect, test } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { createCollector } from '../../../agent/telemetry/collector.ts';
import type { Collector, CollectorMessage } from '../../../agent/telemetry/collector.ts';
import type { ApiCommand, CommandReply, RouterAdapter, RouterFacts, RouterRow, RouterState } from '../../../agent/routers/adapter.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const MINUTE = 60_000;

function factsOf(hardwareId: string, softwareVersion = '7.18.2'): RouterFacts {
  return {
    hardwareId,
    softwareVersion,
    serialNumber: hardwareId,
    softwareId: null,
    identity: 'r',
    model: null,
    boardName: 'CHR',
    hardwareBoard: false,
    architecture: null,
    timeZone: null,
    uptime: '1d',
    uptimeSeconds: 86_400,
  };
}

/** A router whose menus are plain rows. */
class FakeRouter implements RouterAdapter {
  readonly name = 'r1';
  readonly host = '192.0.2.1';
  readonly forwardWay = 'auto';
  readonly hasApi: boolean;
  readonly hasSsh = true;
  readonly terminalLevels = [];
  readonly asked: string[] = [];
  readonly lines: string[] = [];
  readonly clock: ManualClock;
  menus: Record<string, RouterRow[]> = {};
  texts: Record<string, string> = {};
  /** How long each answer takes; the clock moves by it. */
  slowMs = 0;
  underWay = 0;
  mostUnderWay = 0;
  #state: RouterState = { reachable: true, reason: null, facts: factsOf('one') };
  readonly #listeners = new Set<(state: RouterState) => void>();

  constructor(clock: ManualClock, hasApi = true) {
    this.clock = clock;
    this.hasApi = hasApi;
  }

  state(): RouterState {
    return this.#state;
  }

  become(state: Partial<RouterState>): void {
    this.#state = { ...this.#state, ...state };
    for (const listener of this.#listeners) listener(this.#state);
  }

  onState(listener: (state: RouterState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async command({ path, words }: ApiCommand): Promise<CommandReply> {
    this.asked.push([path, ...words.filter((word) => word.startsWith('?'))].join(' '));
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    await Promise.resolve();
    this.clock.advance(this.slowMs);
    this.underWay -= 1;
    if (!this.#state.reachable) throw new AgentError('router_unreachable', 'gone');
    const rows = this.menus[path.replace(/\/(?:print|monitor)$/, '')];
    if (!rows) throw new AgentError('rejected', 'no such command prefix');
    return { rows };
  }

  async console(line: string): Promise<{ text: string; truncated: boolean }> {
    this.lines.push(line);
    const text = Object.entries(this.texts).find(([menu]) => line.startsWith(menu))?.[1];
    return { text: text ?? 'bad command name foo (line 1 column 1)', truncated: false };
  }

  refresh = () => Promise.reject(new Error('not here'));
  openTcp = () => Promise.reject(new Error('not here'));
  readFile = () => Promise.reject(new Error('not here'));
  openShell = () => Promise.reject(new Error('not here'));
  testLogin = () => Promise.reject(new Error('not here'));
  close = () => Promise.resolve();
}

const phone: RouterRow = { address: '10.0.0.1', 'mac-address': 'AA:00:00:00:00:01', interface: 'bridge', complete: 'true' };
const laptop: RouterRow = { address: '10.0.0.2', 'mac-address': 'AA:00:00:00:00:02', interface: 'bridge', complete: 'true' };

describe('a router is read', () => {
  let collector: Collector | undefined;
  afterEach(() => collector?.stop());

  const set = ({ hasApi = true, accepts = () => true }: { hasApi?: boolean; accepts?: () => boolean } = {}) => {
    const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
    const router = new FakeRouter(clock, hasApi);
    const sent: CollectorMessage[] = [];
    const send = (message: CollectorMessage): boolean => accepts() && sent.push(message) > 0;
    collector = createCollector({ routers: new Map([[router.name, router]]), send, clock, random: () => 0.5, log: silentLog });
    collector.start();
    /** Lets the readings that are due happen. */
    const pass = async (ms: number): Promise<void> => {
      await new Promise(setImmediate);
      for (let passed = 0; passed < ms; passed += 1000) {
        clock.advance(1000);
        await new Promise(setImmediate);
      }
    };
    const told = () =>
      sent
        .splice(0)
        .map((message) => (message.type === 'health' ? 'health' : `${message.kind} +${message.devices.length} -${message.gone.length}`));
    return { clock, router, sent, pass, told, collector };
  };

  test('only while the tunnel is ready: everything first, then changes', async () => {
    const { router, pass, told, collector: reading } = set();
    router.menus = { '/ip/arp': [phone], '/ip/dhcp-server/lease': [] };
    await pass(5 * MINUTE);
    expect(router.asked).toEqual([]);
    reading.onReady();
    await pass(1000);
    expect(told()).toEqual(['health', 'full +1 -0']);
    await pass(3 * MINUTE);
    expect(told()).toEqual(['health', 'health', 'health']);
    router.menus['/ip/arp'] = [laptop];
    await pass(MINUTE);
    expect(told()).toEqual(['health', 'delta +1 -0', 'delta +0 -1']);
    reading.onDown();
    await pass(5 * MINUTE);
    expect(told()).toEqual([]);
    reading.onReady();
    await pass(1000);
    expect(told()).toEqual(['health', 'full +1 -0']);
    expect(router.mostUnderWay).toBe(1);
  });

  test('after it comes back, with the changes; a replacement device completely', async () => {
    const { router, pass, told, collector: reading } = set();
    router.menus = { '/ip/arp': [phone] };
    reading.onReady();
    await pass(1000);
    router.become({ reachable: false });
    await pass(3 * MINUTE);
    told();
    router.menus = { '/ip/arp': [phone, laptop] };
    router.become({ reachable: true });
    await pass(1000);
    expect(told()).toEqual(['health', 'delta +1 -0']);
    router.become({ facts: factsOf('two') });
    await pass(1000);
    expect(told()).toEqual(['health', 'full +2 -0']);
  });

  test('and everything is reported again when a message could not be sent', async () => {
    let congested = false;
    const { router, pass, told, collector: reading } = set({ accepts: () => !congested });
    router.menus = { '/ip/arp': [phone] };
    reading.onReady();
    await pass(1000);
    congested = true;
    router.menus = { '/ip/arp': [phone, laptop] };
    await pass(MINUTE);
    congested = false;
    told();
    await pass(MINUTE);
    expect(told()).toEqual(['health', 'full +2 -0']);
  });

  test('with the total number of devices when not all are reported, also when nothing else changes', async () => {
    const { router, sent, pass, collector: reading } = set();
    const macOf = (index: number): string =>
      `AA:00:00:${(index + 0x1000000)
        .toString(16)
        .slice(1)
        .toUpperCase()
        .replace(/(..)(..)(..)/, '$1:$2:$3')}`;
    const rows = Array.from({ length: 20_001 }, (_unused, index) => ({
      'mac-address': macOf(index),
      address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    }));
    const totals = () => sent.splice(0).flatMap((message) => (message.type === 'devices' ? [message.total] : []));
    router.menus = { '/ip/arp': rows, '/ip/dhcp-server/lease': [] };
    reading.onReady();
    await pass(1000);
    expect(new Set(totals())).toEqual(new Set([20_001]));
    router.menus['/ip/arp'] = rows.slice(0, 20_000);
    await pass(MINUTE);
    expect(totals()).toEqual([undefined]);
    await pass(2 * MINUTE);
    expect(totals()).toEqual([]);
    router.menus['/ip/arp'] = rows;
    await pass(MINUTE);
    expect(totals()).toEqual([20_001]);
  });

  test('less often when reading takes long', async () => {
    const { router, pass, told, collector: reading } = set();
    router.menus = { '/ip/arp': [phone], '/ip/dhcp-server/lease': [], '/system/resource': [{}] };
    router.slowMs = 2000;
    reading.onReady();
    await pass(1000);
    told();
    router.menus['/ip/arp'] = [];
    await pass(2 * MINUTE);
    expect(told().every((message) => message === 'health')).toBe(true);
    await pass(3 * MINUTE);
    expect(told()).toContain('delta +0 -1');
  });

  test('by its existing menus: missing ones are tried again only after a while', async () => {
    const { router, pass, collector: reading } = set();
    router.menus = { '/system/resource': [{ 'cpu-load': '7' }] };
    reading.onReady();
    await pass(9 * MINUTE);
    const times = (menu: string): number => router.asked.filter((path) => path.startsWith(menu)).length;
    expect([times('/system/resource'), times('/system/health'), times('/system/gps')]).toEqual([9, 1, 1]);
    await pass(2 * MINUTE);
    expect(times('/system/health')).toBe(2);
  });

  test('at the same interval when the clock of the machine is set back', async () => {
    const { clock, router, pass, told, collector: reading } = set();
    router.menus = { '/ip/arp': [phone], '/system/resource': [{}] };
    reading.onReady();
    await pass(1000);
    told();
    clock.step(-365 * 24 * 60 * MINUTE);
    router.menus['/ip/arp'] = [laptop];
    await pass(12 * MINUTE);
    expect(told()).toContain('delta +1 -0');
    expect(router.asked.filter((path) => path.startsWith('/system/health'))).toHaveLength(2);
  });

  test('with its health, clock, WAN interfaces and position', async () => {
    const { clock, router, pass, sent, collector: reading } = set();
    router.menus = {
      '/system/resource': [{ 'cpu-load': '7', 'free-memory': '1', 'total-memory': '2', 'free-hdd-space': '3', 'total-hdd-space': '4' }],
      '/system/health': [{ name: 'temperature', value: '42', type: 'C' }],
      '/system/clock': [{ date: '2026-11-20', time: '12:02:00', 'gmt-offset': '+00:00' }],
      '/interface/list/member': [
        { interface: 'ether1', disabled: 'false' },
        { interface: 'lte1', disabled: 'false' },
        { interface: 'ether9', disabled: 'true' },
      ],
      '/interface': [
        { name: 'ether1', running: 'true', disabled: 'false' },
        { name: 'lte1', running: 'false', disabled: 'false' },
      ],
      '/system/gps': [{ valid: 'true', latitude: '56.9', longitude: '24.1' }],
    };
    reading.onReady();
    await pass(1000);
    expect(clock.now()).toBe(Date.UTC(2026, 10, 20, 12, 0, 1));
    expect(sent[0]).toEqual({
      type: 'health',
      router: 'r1',
      readings: {
        cpu_load: 7,
        free_memory: 1,
        total_memory: 2,
        free_hdd: 3,
        total_hdd: 4,
        bad_blocks: null,
        voltage: null,
        temperatures: [{ name: 'temperature', celsius: 42 }],
        states: [],
        fans: [],
        supplies: [],
        clock_offset_seconds: 120,
        wan: [
          { interface: 'ether1', running: true },
          { interface: 'lte1', running: false },
        ],
        position: { latitude: 56.9, longitude: 24.1 },
      },
    });
    expect(router.asked).toContain('/interface/print ?name=ether1 ?name=lte1 ?#|');
  });

  test('by its default routes when it has no interface list WAN', async () => {
    const { router, pass, sent, collector: reading } = set();
    router.menus = {
      '/interface/list/member': [],
      '/ip/dhcp-client': [
        { interface: 'ether1', disabled: 'false', 'add-default-route': 'yes' },
        { interface: 'vlan9', disabled: 'false', 'add-default-route': 'no' },
      ],
      '/interface/pppoe-client': [{ name: 'pppoe-out1', disabled: 'false' }],
      '/interface': [
        { name: 'ether1', running: 'true', disabled: 'false' },
        { name: 'pppoe-out1', running: 'true', disabled: 'false' },
      ],
    };
    reading.onReady();
    await pass(1000);
    expect(sent[0]).toMatchObject({ readings: { wan: [{ interface: 'ether1' }, { interface: 'pppoe-out1' }] } });
  });

  test('over the console when it has only SSH', async () => {
    const { router, pass, sent, collector: reading } = set({ hasApi: false });
    router.texts = {
      '/ip arp print terse': ' 0 DC address=10.0.0.1 mac-address=AA:00:00:00:00:01 interface=bridge',
      '/system resource print': '  cpu-load: 9%\n  free-hdd-space: 2.0MiB\n  total-hdd-space: 16.0MiB',
      '/system health print terse': ' 0 name=voltage value=24 type=V',
      '/interface list member print terse': ' 0   list=WAN interface=ether1',
      '/interface print terse where name="ether1"': ' 0 R  name=ether1 type=ether',
      '/system clock print': '   time: 12:00:00\n   date: 2026-11-20\n   gmt-offset: +00:00',
    };
    reading.onReady();
    await pass(1000);
    expect(sent).toMatchObject([
      {
        type: 'health',
        readings: { cpu_load: 9, free_hdd: 2_097_152, voltage: 24, wan: [{ interface: 'ether1', running: true }], clock_offset_seconds: 0 },
      },
      { type: 'devices', kind: 'full', devices: [{ mac: 'AA:00:00:00:00:01', ip: '10.0.0.1', interface: 'bridge' }] },
    ]);
    expect(router.lines).toContain('/interface list member print terse where list="WAN"');
  });
});
