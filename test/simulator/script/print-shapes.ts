/** A flag of an item: the property and the letter it is printed as. */
export interface Flag {
  readonly property: string;
  readonly letter: string;
}

/** How a menu prints its list: columns of flag letters (one letter each), and the properties of the short table. */
export interface PrintShape {
  readonly flags: readonly (readonly Flag[])[];
  readonly columns?: readonly string[];
}

function flagColumns(...columns: string[]): Flag[][] {
  return columns.map((column) =>
    column.split(' ').map((pair) => {
      const [letter = '', property = ''] = pair.split(':');
      return { letter, property };
    }),
  );
}

const common = flagColumns('X:disabled I:invalid D:dynamic');
const rules = flagColumns('X:disabled', 'I:invalid D:dynamic');

const shapes: Readonly<Record<string, PrintShape>> = {
  '/interface': {
    flags: flagColumns('D:dynamic X:disabled', 'R:running', 'S:slave'),
    columns: ['name', 'type', 'actual-mtu', 'l2mtu', 'max-l2mtu', 'mac-address'],
  },
  '/interface/ethernet': {
    flags: flagColumns('X:disabled', 'R:running', 'S:slave'),
    columns: ['name', 'mtu', 'mac-address', 'arp', 'switch'],
  },
  '/ip/address': { flags: common, columns: ['address', 'network', 'interface'] },
  '/ip/arp': {
    flags: flagColumns('X:disabled I:invalid H:DHCP D:dynamic', 'P:published C:complete'),
    columns: ['address', 'mac-address', 'interface', 'status'],
  },
  '/ip/dhcp-server/lease': {
    flags: flagColumns('X:disabled R:radius D:dynamic B:blocked'),
    columns: ['address', 'mac-address', 'host-name', 'server', 'rate-limit', 'status', 'last-seen'],
  },
  '/ip/firewall/nat': { flags: rules },
  '/ip/firewall/filter': { flags: rules },
  '/ip/firewall/mangle': { flags: rules },
  '/ip/service': { flags: flagColumns('X:disabled I:invalid'), columns: ['name', 'port', 'address', 'certificate'] },
  '/ip/route': { flags: flagColumns('X:disabled D:dynamic', 'A:active'), columns: ['dst-address', 'gateway', 'distance'] },
  '/user': { flags: flagColumns('X:disabled'), columns: ['name', 'group', 'address', 'last-logged-in'] },
  '/user/active': { flags: flagColumns('R:radius M:by-romon'), columns: ['when', 'name', 'address', 'via'] },
  '/system/scheduler': {
    flags: flagColumns('X:disabled'),
    columns: ['name', 'start-date', 'start-time', 'interval', 'on-event', 'run-count'],
  },
  '/system/script': { flags: flagColumns('I:invalid') },
  '/file': { flags: [], columns: ['name', 'type', 'size', 'creation-time', 'last-modified'] },
  '/system/health': { flags: [], columns: ['name', 'value', 'type'] },
};

/** How to print the menu at a path; unknown menus get the common flags and the first properties. */
export function printShape(path: string): PrintShape {
  return shapes[path] ?? { flags: common };
}

/** Texts printed in quotes by `detail`. */
export const quotedProperties: ReadonlySet<string> = new Set([
  'name',
  'default-name',
  'type',
  'comment',
  'host-name',
  'identity',
  'platform',
  'version',
  'message',
  'log-prefix',
  'software-id',
  'client-id',
  'source',
  'on-event',
  'owner',
  'contents',
  'address-lists',
  'dhcp-option',
]);

/** Units the console adds to plain API numbers. */
export const units: Readonly<Record<string, (text: string) => string>> = {
  'free-memory': mebibytes,
  'total-memory': mebibytes,
  'free-hdd-space': mebibytes,
  'total-hdd-space': mebibytes,
  'cpu-frequency': (text) => `${text}MHz`,
  'cpu-load': (text) => `${text}%`,
  'bad-blocks': (text) => `${text}%`,
};

function mebibytes(text: string): string {
  return `${(Number(text) / 1_048_576).toFixed(1)}MiB`;
}

/** Counters a console shows only with `stats`. */
export function isCounter(name: string): boolean {
  return /^(?:rx|tx|fp-rx|fp-tx)-|^(?:bytes|packets)$/.test(name);
}
