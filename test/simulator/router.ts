import { methodsOf, proves, type LoginMethods, type Proof } from './api/login.ts';
import { RouterClock } from './clock.ts';
import { ExecutionRecord } from './executions.ts';
import { Faults } from './faults.ts';
import { FileStore } from './files.ts';
import { inputVerdict, type Verdict } from './firewall.ts';
import { formatDateTime } from './formats.ts';
import { matchesAddress } from './addresses.ts';
import { ALL_MENUS } from './menu/definitions/index.ts';
import { exportMenus } from './menu/export.ts';
import { MenuRegistry } from './menu/registry.ts';
import type { ItemTable } from './menu/table.ts';
import type { MenuTree, ScriptEngine, Session } from './menu/types.ts';
import { findModel, type Model } from './models.ts';
import { DEFAULT_OPTIONS, type SimulatorOptions } from './options.ts';
import { boardNumber, seedRouter } from './seed.ts';
import { SessionRegistry, type ServiceName } from './sessions.ts';
import type { RouterState } from './state.ts';
import { systemTime, type TimeSource } from './time.ts';
import { RouterVersion } from './version.ts';

/** What a successful login gives. */
export interface Account {
  user: string;
  policies: ReadonlySet<string>;
}

export interface LoginOrigin {
  via: 'api' | 'ssh';
  address: string;
}

/** Settings of `/ip/ssh` and of the ssh service, as an SSH server needs them. */
export interface SshSettings {
  forwarding: 'no' | 'local' | 'remote' | 'both';
  passwordWithKey: boolean;
  strongCrypto: boolean;
  hostKeyType: 'rsa' | 'ed25519';
  hostKeySize: number;
}

export type EngineFactory = (router: SimulatedRouter) => ScriptEngine;

/** One simulated router: its menus, clock, files and users. Servers for API and SSH are put around it by index.ts. */
export class SimulatedRouter implements RouterState {
  readonly options: SimulatorOptions;
  readonly version: RouterVersion;
  readonly model: Model;
  readonly serialNumber: string;
  readonly softwareId: string;
  readonly time: TimeSource;
  readonly clock: RouterClock;
  readonly sessions = new SessionRegistry();
  readonly faults = new Faults(this.sessions);
  readonly executions: ExecutionRecord;
  readonly files: FileStore;
  readonly scripts: ScriptEngine;
  readonly #registry: MenuRegistry;
  /** Aborted at a reboot; everything the router runs on its own hangs on it. */
  #life = new AbortController();
  /** Called when a command asked for a reboot; set by whoever owns the listeners. */
  onReboot: ((downMs: number | undefined) => void) | undefined;

  constructor(options: Partial<SimulatorOptions>, engine: EngineFactory) {
    this.options = { ...DEFAULT_OPTIONS, ...options };
    this.version = new RouterVersion(this.options.version);
    this.model = findModel(this.options.model);
    const { identity } = this.options;
    this.serialNumber = this.options.serialNumber ?? boardNumber(`serial ${identity}`, 12);
    this.softwareId = this.options.softwareId ?? softwareId(identity, this.model);
    this.time = this.options.time ?? systemTime();
    this.clock = new RouterClock(this.time, this.options);
    this.executions = new ExecutionRecord(() => this.time.now());
    this.files = new FileStore({ wallMs: () => this.clock.wallMs(), now: () => this.time.now() }, () => this.faults.diskFull);
    this.#registry = new MenuRegistry(this, ALL_MENUS, exportMenus);
    this.scripts = engine(this);
    seedRouter(this);
  }

  get menus(): MenuTree {
    return this.#registry;
  }

  get loginMethods(): LoginMethods {
    return this.options.loginMethods ?? methodsOf(this.version);
  }

  table(path: string): ItemTable {
    const table = this.#registry.table(path);
    if (!table) throw new RangeError(`RouterOS ${this.version.text} has no ${path}`);
    return table;
  }

  hasMenu(path: string): boolean {
    return this.#registry.table(path) !== undefined;
  }

  setting(path: string, name: string): string {
    return this.#registry.table(path)?.items[0]?.values.get(name) ?? '';
  }

  log(topics: string, message: string): void {
    if (this.hasMenu('/log')) this.table('/log').add([['.at', String(this.clock.wallMs())], ['topics', topics], ['message', message]]);
  }

  /** Checks a password login; the caller says how it came, for the log and `/user address`. */
  authenticate(user: string, password: string, from?: LoginOrigin): Account | undefined {
    return this.authenticateProof(user, { kind: 'password', password }, from);
  }

  authenticateProof(user: string, proof: Proof, from: LoginOrigin = { via: 'api', address: '127.0.0.1' }): Account | undefined {
    const item = this.#userMayEnter(user, from);
    if (!item || !proves(proof, item.get('password') ?? '')) {
      this.log('system,error,critical', `login failure for user ${user} from ${from.address} via ${from.via}`);
      return undefined;
    }
    return this.loggedIn(user, from);
  }

  /** A user known by other means (a public key) enters: logged, dated, and given back. Undefined when not allowed. */
  loggedIn(user: string, from: LoginOrigin): Account | undefined {
    if (!this.#userMayEnter(user, from)) return undefined;
    const item = this.table('/user').find('name', user);
    if (item) this.table('/user').update(item, [['last-logged-in', formatDateTime(this.version, this.clock.wallMs())]]);
    this.log('system,info,account', `user ${user} logged in from ${from.address} via ${from.via}`);
    return { user, policies: this.policiesOf(user) };
  }

  logout(user: string, address: string, via: string): void {
    this.log('system,info,account', `user ${user} logged out from ${address} via ${via}`);
  }

  #userMayEnter(user: string, from: LoginOrigin): ReadonlyMap<string, string> | undefined {
    const values = this.table('/user').find('name', user)?.values;
    if (!values || values.get('disabled') === 'true' || !this.policiesOf(user).has(from.via)) return undefined;
    const networks = (values.get('address') ?? '').split(',').filter((network) => network !== '');
    const allowed = networks.length === 0 || networks.some((network) => matchesAddress(network, from.address));
    return allowed ? values : undefined;
  }

  policiesOf(user: string): ReadonlySet<string> {
    const group = this.table('/user').find('name', user)?.values.get('group') ?? '';
    const policy = this.table('/user/group').find('name', group)?.values.get('policy') ?? '';
    const granted = policy.split(',').filter((name) => name !== '' && !name.startsWith('!'));
    return new Set(granted.filter((name) => !this.faults.missingPolicies.has(name)));
  }

  /** Public keys of a user as OpenSSH lines without comment. */
  userKeys(user: string): string[] {
    const keys = this.table('/user/ssh-keys').items.filter((item) => item.values.get('user') === user);
    return keys.map((item) => item.values.get('.key') ?? '');
  }

  /** `/ip/ssh` as it stands now; read anew for every connection. */
  get sshSettings(): SshSettings {
    const read = (name: string): string => this.setting('/ip/ssh', name);
    const forwarding = { true: 'both', yes: 'both', false: 'no' }[read('forwarding-enabled')] ?? read('forwarding-enabled');
    return {
      forwarding: forwarding as SshSettings['forwarding'],
      passwordWithKey: read('always-allow-password-login') === 'true' || read('password-authentication') === 'yes',
      strongCrypto: read('strong-crypto') === 'true',
      hostKeyType: read('host-key-type') === 'ed25519' ? 'ed25519' : 'rsa',
      hostKeySize: Number(read('host-key-size') || '2048'),
    };
  }

  /** What happens to a connection to one of the router's services: firewall, /ip/service and faults taken together. */
  verdict(service: ServiceName, remoteAddress: string, state: 'new' | 'established' = 'new'): Verdict {
    if (this.faults.refuseConnections && state === 'new') return 'reject';
    return inputVerdict(this, { service, remoteAddress: remoteAddress.replace(/^::ffff:/, ''), state });
  }

  /** The verdict as a yes or no, for a port as the router itself knows it (22, 8728, 8729 or as set in /ip/service). */
  admits(port: number, remoteAddress: string): boolean {
    const service = this.table('/ip/service').find('port', String(port))?.values.get('name');
    return this.verdict((service ?? 'api') as ServiceName, remoteAddress) === 'accept';
  }

  /** Where an address the router would connect to really is, for relays and SSH forwarding. */
  resolveHost(address: string): { address: string; routesBack: boolean } {
    const host = this.options.hosts[address];
    if (host === undefined) return { address, routesBack: true };
    return typeof host === 'string' ? { address: host, routesBack: true } : { address: host.address, routesBack: host.routesBack ?? true };
  }

  ownSession(session: Pick<Session, 'user' | 'policies' | 'origin'>): Session & { end(): void } {
    const controller = new AbortController();
    const life = this.#life.signal;
    const end = (): void => controller.abort();
    life.addEventListener('abort', end, { once: true });
    return {
      ...session, signal: controller.signal,
      end: () => {
        life.removeEventListener('abort', end);
        end();
      },
    };
  }

  scheduleReboot(downMs?: number): void {
    this.onReboot?.(downMs);
  }

  /** Power goes: everything running stops, sessions drop, what is not kept is gone. */
  powerOff(): void {
    this.#life.abort();
    this.sessions.closeAll(true);
  }

  powerOn(): void {
    this.#life = new AbortController();
    this.clock.reboot();
    if (this.model.flashFolder) this.files.keepOnlyFlash();
    for (const menu of this.#registry.definitions()) this.#forgetDynamic(menu.path);
    this.log('system,info', 'router rebooted');
  }

  #forgetDynamic(path: string): void {
    const table = this.#registry.table(path);
    if (path === '/log') for (const item of [...(table?.items ?? [])]) table?.remove(item);
  }

  saveConfiguration(): string {
    const tables = this.#registry.definitions().filter((menu) => this.#registry.table(menu.path) && !menu.noExport);
    return JSON.stringify(tables.map((menu) => [menu.path, this.table(menu.path).save()]));
  }

  restoreConfiguration(saved: string): void {
    const tables = JSON.parse(saved) as [string, ReturnType<ItemTable['save']>][];
    for (const [path, table] of tables) this.#registry.table(path)?.restore(table);
  }
}

function softwareId(identity: string, model: Model): string {
  if (model.boardName === 'CHR') return boardNumber(`system ${identity}`, 11);
  return boardNumber(`software ${identity}`, 8).replace(/^(.{4})/, '$1-');
}
