/** A router as it comes out of the box and has been used for a while, consistent in itself. */
import { boardNumber } from './board-number.ts';
import { addKey, readPublicKey } from './menu/definitions/user-keys.ts';
import { allowedFeatures } from './menu/definitions/tools.ts';
import { ALL_POLICIES } from './menu/values.ts';
import type { SimulatedUser } from './options.ts';
import type { RouterState } from './state.ts';

type Values = Readonly<Record<string, string>>;

/** Adds an item if this version has the menu; fills in the menu's own defaults itself. */
function add(router: RouterState, path: string, values: Values, dynamic = false): void {
  if (router.hasMenu(path)) router.table(path).add(Object.entries(values), { dynamic });
}

/** Sets values of a one-record menu. */
function put(router: RouterState, path: string, values: Values): void {
  const item = router.hasMenu(path) ? router.table(path).items[0] : undefined;
  if (item) router.table(path).update(item, Object.entries(values));
}

function macAddress(router: RouterState, index: number): string {
  const base = Number.parseInt(boardNumber(router.serialNumber, 5), 16) * 16 + index;
  return `DC:2C:6E${base.toString(16).toUpperCase().padStart(6, '0').slice(-6).replace(/(..)/g, ':$1')}`;
}

/** Fills a router. `blank`: without addresses, leases and firewall, as after a reset without defaults. */
export function seedRouter(router: RouterState, blank: boolean, users: readonly SimulatedUser[] = router.options.users): void {
  seedUsers(router, users);
  seedSystem(router);
  seedInterfaces(router);
  seedServices(router);
  seedManagement(router);
  if (!blank) seedNetwork(router);
}

function seedUsers(router: RouterState, users: readonly SimulatedUser[]): void {
  const without = (...gone: string[]): string => ALL_POLICIES.filter((policy) => !gone.includes(policy)).join(',');
  if (router.table('/user/group').items.length > 0) return;
  add(router, '/user/group', { name: 'read', policy: without('ftp', 'write', 'policy'), skin: 'default' });
  add(router, '/user/group', { name: 'write', policy: without('ftp', 'policy'), skin: 'default' });
  add(router, '/user/group', { name: 'full', policy: without(), skin: 'default' });
  for (const [name, policies] of Object.entries(router.options.groups)) {
    add(router, '/user/group', { name, policy: policies.join(','), skin: 'default' });
  }
  for (const { name, password, group, address, publicKeys } of users) {
    const comment: Values = name === 'admin' ? { comment: 'system default user' } : {};
    const extra: Values = { 'inactivity-timeout': '10m', 'inactivity-policy': 'none', expired: 'false', disabled: 'false' };
    add(router, '/user', { name, group: group ?? 'full', address: address ?? '', password, ...extra, ...comment });
    for (const key of publicKeys ?? []) addKey(router.table('/user/ssh-keys'), name, readPublicKey(router, key));
  }
}

function seedSystem(router: RouterState): void {
  const { model, version, options } = router;
  const health: Values = Object.fromEntries(model.sensors.map(({ name, value }) => [name, value]));
  if (version.major >= 7) for (const { name, value, type } of model.sensors) add(router, '/system/health', { name, value, type });
  else put(router, '/system/health', health);
  put(router, '/system/device-mode', {
    mode: options.deviceMode,
    ...allowedFeatures(options.deviceMode),
    flagged: 'false',
    'attempt-count': '0',
  });
  if (model.flashFolder) router.files.makeDirectory('flash');
  put(router, '/system/identity', { name: options.identity });
  const allowed = options.containers ? { container: 'true' } : {};
  put(router, '/system/device-mode', allowed);
  const packages =
    version.major >= 7
      ? ['routeros', ...(options.containers ? ['container'] : [])]
      : ['system', 'security', 'dhcp', 'advanced-tools', 'wireless'];
  for (const name of packages) add(router, '/system/package', { name, version: version.text, scheduled: '', disabled: 'false' });
}

function seedInterfaces(router: RouterState): void {
  const { model, clock } = router;
  const upAt = String(Math.max(1, clock.wallMs() - clock.uptimeMs()));
  const ports = [...Array.from({ length: model.ethernet }, (_, index) => `ether${index + 1}`), ...model.sfp];
  const counters = { 'rx-byte': '222253', 'tx-byte': '693931', 'rx-packet': '1889', 'tx-packet': '2222' };
  const quiet = { 'rx-drop': '0', 'tx-drop': '0', 'rx-error': '0', 'tx-error': '0', 'link-downs': '0' };
  ports.forEach((name, index) => {
    const mac = macAddress(router, index);
    const ether = { arp: 'enabled', 'auto-negotiation': 'true', 'orig-mac-address': mac, l2mtu: '1598' };
    const common = { name, 'default-name': name, type: 'ether', mtu: '1500', 'mac-address': mac, disabled: 'false', 'up-at': upAt };
    add(router, '/interface', { ...common, ...ether, ...counters, ...quiet });
  });
  const bridge = { name: router.options.managementInterface, type: 'bridge', mtu: 'auto', 'mac-address': macAddress(router, 1) };
  const known = router.table('/interface').find('name', bridge.name);
  if (!known)
    add(router, '/interface', {
      ...bridge,
      'protocol-mode': 'rstp',
      'vlan-filtering': 'false',
      disabled: 'false',
      'up-at': upAt,
      ...counters,
      ...quiet,
    });
  for (const name of ['all', 'none', 'dynamic', 'static']) {
    add(router, '/interface/list', { name, include: '', exclude: '', builtin: 'true', comment: `contains ${name} interfaces` }, false);
  }
  for (const name of ['WAN', 'LAN'])
    add(router, '/interface/list', { name, include: '', exclude: '', builtin: 'false', comment: 'defconf' });
}

function seedServices(router: RouterState): void {
  const services: [string, string, string][] = [
    ['telnet', '23', 'true'],
    ['ftp', '21', 'true'],
    ['www', '80', 'false'],
    ['ssh', '22', 'false'],
    ['www-ssl', '443', 'true'],
    ['api', '8728', 'false'],
    ['winbox', '8291', 'false'],
    ['api-ssl', '8729', String(router.options.apiTlsPort === null)],
  ];
  for (const [name, port, disabled] of services) {
    const rest: Values = { address: '', vrf: 'main', 'max-sessions': '20', disabled };
    add(router, '/ip/service', { name, port, ...rest, ...(name.endsWith('-ssl') ? { certificate: 'none', 'tls-version': 'any' } : {}) });
  }
}

/** Without this address the router could not be reached. */
function seedManagement(router: RouterState): void {
  const { managementAddress, managementInterface } = router.options;
  const network = managementAddress.replace(/\.\d+$/, '');
  add(router, '/ip/address', {
    address: `${managementAddress}/24`,
    network: `${network}.0`,
    interface: managementInterface,
    disabled: 'false',
    comment: 'defconf',
  });
}

/** The default configuration of a home router, as far as it concerns connections. */
function seedFirewall(router: RouterState): void {
  const rules: Values[] = [
    {
      chain: 'input',
      action: 'accept',
      'connection-state': 'established,related,untracked',
      comment: 'defconf: accept established,related,untracked',
    },
    { chain: 'input', action: 'drop', 'connection-state': 'invalid', comment: 'defconf: drop invalid' },
    { chain: 'input', action: 'accept', protocol: 'icmp', comment: 'defconf: accept ICMP' },
    { chain: 'input', action: 'drop', 'in-interface-list': '!LAN', comment: 'defconf: drop all not coming from LAN' },
    {
      chain: 'forward',
      action: 'accept',
      'connection-state': 'established,related,untracked',
      comment: 'defconf: accept established,related, untracked',
    },
    { chain: 'forward', action: 'drop', 'connection-state': 'invalid', comment: 'defconf: drop invalid' },
    {
      chain: 'forward',
      action: 'drop',
      'connection-state': 'new',
      'connection-nat-state': '!dstnat',
      'in-interface-list': 'WAN',
      comment: 'defconf: drop all from WAN not DSTNATed',
    },
  ];
  const end: Values = { log: 'false', 'log-prefix': '', bytes: '0', packets: '0', disabled: 'false' };
  for (const rule of rules) add(router, '/ip/firewall/filter', { ...rule, ...end });
  const masquerade = { chain: 'srcnat', action: 'masquerade', 'out-interface-list': 'WAN', comment: 'defconf: masquerade' };
  add(router, '/ip/firewall/nat', { ...masquerade, ...end });
}

function seedNetwork(router: RouterState): void {
  const { managementAddress, managementInterface } = router.options;
  const network = managementAddress.replace(/\.\d+$/, '');
  seedFirewall(router);
  add(router, '/ip/address', { address: '203.0.113.2/30', network: '203.0.113.0', interface: 'ether1', disabled: 'false' });
  const route = {
    'dst-address': '0.0.0.0/0',
    gateway: '203.0.113.1',
    distance: '1',
    scope: '30',
    'target-scope': '10',
    active: 'true',
    static: 'true',
    disabled: 'false',
  };
  const v7: Values = { 'routing-table': 'main', 'immediate-gw': '203.0.113.1%ether1' };
  const v6: Values = { 'gateway-status': '203.0.113.1 reachable via  ether1' };
  add(router, '/ip/route', { ...route, ...(router.version.major >= 7 ? v7 : v6) });
  for (let index = 2; index <= router.model.ethernet; index += 1) {
    add(router, '/interface/bridge/port', {
      interface: `ether${index}`,
      bridge: managementInterface,
      pvid: '1',
      disabled: 'false',
      comment: 'defconf',
    });
  }
  add(router, '/interface/list/member', { list: 'LAN', interface: managementInterface, disabled: 'false', comment: 'defconf' });
  add(router, '/interface/list/member', { list: 'WAN', interface: 'ether1', disabled: 'false', comment: 'defconf' });
  add(router, '/ip/pool', { name: 'default-dhcp', ranges: `${network}.10-${network}.254` });
  seedHosts(router, network);
}

function seedHosts(router: RouterState, network: string): void {
  const hosts: [string, string, string][] = [
    ['10', '30:07:4D:F5:07:49', 'Galaxy-S8'],
    ['11', '00:0C:29:5A:13:E1', 'printer'],
    ['12', 'DC:A6:32:0B:44:7F', 'raspberrypi'],
  ];
  const server = {
    name: 'defconf',
    interface: router.options.managementInterface,
    'address-pool': 'default-dhcp',
    'lease-time': '10m',
    disabled: 'false',
  };
  add(router, '/ip/dhcp-server', server);
  for (const [last, mac, host] of hosts) {
    const address = `${network}.${last}`;
    const arp = {
      address,
      'mac-address': mac,
      interface: router.options.managementInterface,
      published: 'false',
      complete: 'true',
      DHCP: 'true',
      disabled: 'false',
    };
    add(router, '/ip/arp', { ...arp, status: 'reachable' }, true);
    const active = {
      'active-address': address,
      'active-mac-address': mac,
      'active-client-id': `1:${mac.toLowerCase()}`,
      'active-server': 'defconf',
      'host-name': host,
    };
    const lease = {
      address,
      'mac-address': mac,
      'client-id': `1:${mac.toLowerCase()}`,
      'address-lists': '',
      server: 'defconf',
      'dhcp-option': '',
      status: 'bound',
    };
    add(
      router,
      '/ip/dhcp-server/lease',
      {
        ...lease,
        age: '2h11m',
        'expires-after': '8m55s',
        'last-seen': '1m5s',
        ...active,
        radius: 'false',
        blocked: 'false',
        disabled: 'false',
      },
      true,
    );
  }
  seedNeighbor(router);
  add(
    router,
    '/ip/arp',
    {
      address: '203.0.113.1',
      'mac-address': '4C:5E:0C:12:AA:CC',
      interface: 'ether1',
      published: 'false',
      complete: 'true',
      DHCP: 'false',
      disabled: 'false',
      status: 'reachable',
    },
    true,
  );
}

function seedNeighbor(router: RouterState): void {
  add(
    router,
    '/ip/neighbor',
    {
      interface: 'ether1',
      address: '203.0.113.1',
      address4: '203.0.113.1',
      'mac-address': '4C:5E:0C:12:AA:CC',
      identity: 'isp',
      platform: 'MikroTik',
      version: '6.48.6 (long-term)',
      unpack: 'none',
      age: '17s',
      uptime: '1w5d2h31m30s',
      'software-id': '1234-ABCD',
      board: 'RB750UPr2',
      'interface-name': 'ether2',
      'system-description': 'MikroTik RouterOS 6.48.6 (long-term) RB750UPr2',
      'system-caps': 'bridge,router',
      'system-caps-enabled': 'bridge,router',
    },
    true,
  );
}
