import type { TimeSource } from './time.ts';

export interface SimulatedUser {
  name: string;
  password: string;
  /** Name of a group: full, read, write, or one of `groups`. Default full. */
  group?: string;
  /** Keys as in an OpenSSH `.pub` file. */
  publicKeys?: readonly string[];
  /** Networks the user may come from, as in `/user address`. */
  address?: string;
}

/** A machine behind the router, and where it really listens. */
export interface SimulatedHost {
  /** The address at which this machine answers, for instance 127.0.0.1. */
  address: string;
  /** False: the host's default gateway is another router, so its answers come back only if a srcnat rule hides the client. */
  routesBack?: boolean;
}

/** A network namespace of this machine that is the router's own, with interfaces called as the router's. Needs root. */
export interface SimulatedNetwork {
  namespace: string;
}

export interface SimulatorOptions {
  /** TCP ports to listen on; 0 picks a free one, null leaves the service out. */
  apiPort: number | null;
  apiTlsPort: number | null;
  sshPort: number | null;
  /** Address every listener binds, and the address at which dst-nat rules are reached. */
  host: string;
  version: string;
  /** Name of a model in models.ts, loosely spelled: `hAP ac^2`, `hAP-ac2`, `CHR`. */
  model: string;
  identity: string;
  /** Default: derived from the identity, so that two routers differ and one keeps its own. */
  serialNumber: string | undefined;
  softwareId: string | undefined;
  users: readonly SimulatedUser[];
  /** Further groups, name to policies. */
  groups: Readonly<Record<string, readonly string[]>>;
  /** Every byte the API sends goes into a segment of its own. */
  splitEveryByte: boolean;
  /** Router clock at start: undefined = the time source's, ISO text = that moment, `unset` = 1970-01-02, also after each reboot. */
  clock: string | undefined;
  timeZone: string;
  time: TimeSource | undefined;
  /** `/system/device-mode` mode; `home` forbids the scheduler and fetch. */
  deviceMode: string;
  /** The container package is installed, and device-mode allows containers. */
  containers: boolean;
  /** Added before each API reply. */
  latencyMs: number;
  /** Ways of API login; default by version. */
  loginMethods: 'plain' | 'challenge' | 'both' | undefined;
  /** Addresses behind the router and where they really are. Loopback addresses need no entry. */
  hosts: Readonly<Record<string, string | SimulatedHost>>;
  /** Names that the router's DNS server knows, in lower case, and their addresses. */
  names: Readonly<Record<string, string>>;
  /** What the maker offers as newest; undefined: the version that runs. */
  latestVersion: string | undefined;
  /** The kernel of this namespace forwards by the router's rules; undefined: relays of this process do. */
  network: SimulatedNetwork | undefined;
  /** The router's address its clients use; without it in /ip/address they lose the router. */
  managementAddress: string;
  managementInterface: string;
  /** PEM certificate and key of api-ssl; `self-signed` makes one with the openssl program, undefined means anonymous DH. */
  tls: { cert: string; key: string } | 'self-signed' | undefined;
  /** Private SSH host key (PEM or OpenSSH), so that a router keeps its fingerprint. Default: a new one. */
  sshHostKey: string | undefined;
  /** Start with no addresses, leases or firewall: a router out of a reset. */
  blank: boolean;
  /** What `/file/read` gives of a file that is no text, which nothing documents: its bytes, or question marks in their place. */
  binaryFileRead: 'bytes' | 'question marks';
  /** Flash write-back: how long `/file/print` shows a size of 0 after a write. */
  fileSizeLagMs: number;
  /** GPS position, for boards that have the package. */
  gps: { latitude: string; longitude: string } | undefined;
  uptimeMs: number;
  /** How long `/system/reboot` takes, by the time source. */
  rebootMs: number;
}

export const DEFAULT_OPTIONS: SimulatorOptions = {
  apiPort: 0,
  apiTlsPort: null,
  sshPort: 0,
  host: '127.0.0.1',
  version: '7.18.2',
  model: 'hAP ac^2',
  identity: 'MikroTik',
  serialNumber: undefined,
  softwareId: undefined,
  users: [{ name: 'admin', password: '', group: 'full' }],
  groups: {},
  splitEveryByte: false,
  clock: undefined,
  timeZone: 'UTC',
  time: undefined,
  deviceMode: 'advanced',
  containers: false,
  latencyMs: 0,
  loginMethods: undefined,
  hosts: {},
  names: {},
  latestVersion: undefined,
  network: undefined,
  managementAddress: '192.168.88.1',
  managementInterface: 'bridge',
  tls: undefined,
  sshHostKey: undefined,
  blank: false,
  binaryFileRead: 'bytes',
  fileSizeLagMs: 0,
  gps: undefined,
  uptimeMs: 4_000_000,
  rebootMs: 1000,
};
