import { startSimulator } from '../../../test/simulator/index.ts';
import type { Simulator } from '../../../test/simulator/index.ts';
import { BENCH_LOGIN } from './simulator.ts';

export interface SiteRoutersOptions {
  routers: number;
  /** Behind the first router; the others have a few each. */
  devices: number;
  devicesElsewhere: number;
  /** Devices of the first router that come, go or get another address every minute. */
  changesPerMinute: number;
}

export interface SiteRouters {
  apiPorts: number[];
  /** The last device of every router: when all are known, everything has been reported. */
  lastDevices: string[];
}

const COMMON = { interface: 'bridge', published: 'false', complete: 'true', DHCP: 'true', disabled: 'false', status: 'reachable' };

/** The routers of an agent, one of them with a large site behind it whose devices keep changing a little. */
export async function startSiteRouters(options: SiteRoutersOptions): Promise<SiteRouters> {
  const simulators: Simulator[] = [];
  for (let index = 0; index < options.routers; index += 1) {
    const simulator = await startSimulator({
      sshPort: null,
      identity: `site-${index}`,
      serialNumber: `SITE${index}`,
      users: [{ name: BENCH_LOGIN.username, password: BENCH_LOGIN.password, group: 'full' }],
    });
    fill(simulator, index, countOf(options, index));
    simulators.push(simulator);
  }
  churn(simulators[0]!, options);
  return {
    apiPorts: simulators.map(({ apiPort }) => apiPort),
    lastDevices: simulators.map((_, index) => macOf(index, countOf(options, index) - 1)),
  };
}

function countOf({ devices, devicesElsewhere }: SiteRoutersOptions, router: number): number {
  return router === 0 ? devices : devicesElsewhere;
}

function macOf(router: number, device: number): string {
  const number = (router * 0x10000 + device).toString(16).toUpperCase().padStart(6, '0');
  return `4C:5E:0C:${number.replaceAll(/(..)(?=.)/g, '$1:')}`;
}

/** Four of five are online; of every fifth only the lease remains. */
function fill(simulator: Simulator, router: number, count: number): void {
  const [arp, leases] = [simulator.router.table('/ip/arp'), simulator.router.table('/ip/dhcp-server/lease')];
  for (let device = 0; device < count; device += 1) {
    const [address, mac] = [`10.${router}.${device >> 8}.${device & 255}`, macOf(router, device)];
    leases.add(
      Object.entries({
        address,
        'mac-address': mac,
        server: 'defconf',
        status: 'bound',
        'expires-after': '8m55s',
        'last-seen': '1h5m',
        'active-address': address,
        'active-mac-address': mac,
        'host-name': `device-${router}-${device}`,
        disabled: 'false',
      }),
      { dynamic: true },
    );
    if (device % 5 !== 4) arp.add(Object.entries({ ...COMMON, address, 'mac-address': mac }), { dynamic: true });
  }
}

/** One change after the other, spread over the minute. */
function churn(simulator: Simulator, { devices, changesPerMinute }: SiteRoutersOptions): void {
  const arp = simulator.router.table('/ip/arp');
  let turn = 0;
  setInterval(() => {
    turn += 1;
    const mac = macOf(0, (turn * 7919) % devices);
    const item = arp.find('mac-address', mac);
    const address = `10.0.${200 + (turn % 50)}.${turn & 255}`;
    if (!item) arp.add(Object.entries({ ...COMMON, address, 'mac-address': mac }), { dynamic: true });
    else if (turn % 2 === 0) arp.update(item, [['address', address]]);
    else arp.remove(item);
  }, 60_000 / changesPerMinute).unref();
}
