import { X509Certificate } from 'node:crypto';
import * as accounts from './accounts.ts';
import type { Account, LoginOrigin } from './accounts.ts';
import { methodsOf, type LoginMethods, type Proof } from './api/login.ts';
import { boardNumber } from './board-number.ts';
import { RouterClock } from './clock.ts';
import { ExecutionRecord } from './executions.ts';
import { Faults } from './faults.ts';
import { FileStore } from './files.ts';
import { inputVerdict, type Verdict } from './firewall.ts';
import { ALL_MENUS } from './menu/definitions/index.ts';
import { isSchedulerAllowed } from './menu/definitions/scripts.ts';
import { exportMenus } from './menu/export.ts';
import { MenuRegistry } from './menu/registry.ts';
import type { Mail } from './mail.ts';
import type { ItemTable, SavedTable } from './menu/table.ts';
import type { MenuTree, ScriptEngine, Session } from './menu/types.ts';
import { findModel, type Model } from './models.ts';
import { KernelNat } from './nat/kernel.ts';
import { Namespace } from './nat/namespace.ts';
import { NatRelay } from './nat/relay.ts';
import type { Nat } from './nat/types.ts';
import { Netwatch } from './netwatch.ts';
import { DEFAULT_OPTIONS, type SimulatorOptions } from './options.ts';
import { startReactions } from './reactions.ts';
import { Scheduler } from './scheduler.ts';
import { seedRouter } from './seed.ts';
import { SessionRegistry, type ServiceName } from './sessions.ts';
import { readSshSettings, type SshSettings } from './ssh-settings.ts';
import { runFile } from './script-jobs.ts';
import type { ConfigurationReset, RouterState } from './state.ts';
import { systemTime, type TimeSource } from './time.ts';
import { RouterVersion } from './version.ts';

export type { Account, LoginOrigin } from './accounts.ts';
export type { SshSettings } from './ssh-settings.ts';

export type EngineFactory = (router: SimulatedRouter) => ScriptEngine;

/** Between the command and the moment the router goes down its answer still gets out. */
const REBOOT_GRACE_MS = 100;

/** What a reset seeds anew although it is no configuration. */
const SEEN = ['/ip/neighbor', '/system/health', '/system/package'];
const OUT_OF_THE_BOX = [{ name: 'admin', password: '' }];

/**
 * One simulated router: its menus, clock, files and users. Servers for API and SSH are put around it by index.ts.
 * Invariant: while it is off nothing runs, every connection is refused, and no timer of its own is pending.
 */
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
  readonly globals = new Map<string, Map<string, unknown>>();
  readonly mails: Mail[] = [];
  readonly #registry: MenuRegistry;
  readonly #nat: Nat;
  readonly #scheduler: Scheduler;
  readonly #netwatch: Netwatch;
  /** Aborted at power-off; everything the router runs on its own hangs on it. */
  #life = new AbortController();
  #isOn = false;
  #stopReactions: () => void = () => undefined;
  #cancelReboot: () => void = () => undefined;

  constructor(options: Partial<SimulatorOptions>, engine: EngineFactory) {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.options = { ...DEFAULT_OPTIONS, ...given };
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
    const { network } = this.options;
    this.#nat = network ? new KernelNat(this, new Namespace(network.namespace)) : new NatRelay(this);
    this.#scheduler = new Scheduler(this, () => isSchedulerAllowed(this));
    this.#netwatch = new Netwatch(this);
    this.clock.onSet = () => {
      if (this.#isOn) this.#scheduler.replan();
    };
    seedRouter(this, this.options.blank);
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
    this.table('/log').add([
      ['.at', String(this.clock.wallMs())],
      ['topics', topics],
      ['message', message],
    ]);
  }

  /** Checks a password login; the caller says how it came, for the log and `/user address`. */
  authenticate(user: string, password: string, from?: LoginOrigin): Account | undefined {
    return this.authenticateProof(user, { kind: 'password', password }, from);
  }

  authenticateProof(user: string, proof: Proof, from: LoginOrigin = { via: 'api', address: '127.0.0.1' }): Account | undefined {
    return accounts.authenticate(this, user, proof, from);
  }

  /** A user proved by a public key enters: logged, dated, and given back. Undefined when he may not. */
  loggedIn(user: string, from: LoginOrigin): Account | undefined {
    return accounts.recordLogin(this, user, from);
  }

  logout(user: string, address: string, via: string): void {
    this.log('system,info,account', `user ${user} logged out from ${address} via ${via}`);
  }

  policiesOf(user: string): ReadonlySet<string> {
    return accounts.policiesOf(this, user);
  }

  /** Public keys of a user as OpenSSH lines without comment. */
  userKeys(user: string): string[] {
    const keys = this.table('/user/ssh-keys').items.filter((item) => item.values.get('user') === user);
    return keys.map((item) => item.values.get('.key') ?? '');
  }

  /** The present `/ip/ssh`; read again for every connection. */
  get sshSettings(): SshSettings {
    return readSshSettings(this);
  }

  /** What happens to a connection to one of the router's services: power, firewall, /ip/service and faults together. */
  verdict(service: ServiceName, remoteAddress: string, state: 'new' | 'established' = 'new'): Verdict {
    if (!this.#isOn || (this.faults.refuseConnections && state === 'new')) return 'reject';
    return inputVerdict(this, { service, remoteAddress: remoteAddress.replace(/^::ffff:/, ''), state });
  }

  /** The verdict as a yes or no, for a port as the router itself knows it (22, 8728, 8729 or as set in /ip/service). */
  admits(port: number, remoteAddress: string): boolean {
    const service = this.table('/ip/service').find('port', String(port))?.values.get('name');
    return this.verdict((service ?? 'api') as ServiceName, remoteAddress) === 'accept';
  }

  resolveHost(address: string): { address: string; routesBack: boolean } {
    if (address === this.options.managementAddress) return { address: this.options.host, routesBack: true };
    const host = this.options.hosts[address] ?? address;
    return typeof host === 'string' ? { address: host, routesBack: true } : { address: host.address, routesBack: host.routesBack ?? true };
  }

  /** A certificate is in place: its menu has it, and the service that uses it names it. @param cert PEM */
  useCertificate(cert: string): void {
    const { fingerprint256, validFrom } = new X509Certificate(cert);
    this.table('/certificate').add([
      ['name', 'simulator'],
      ['common-name', this.options.identity],
      ['.signed', String(Date.parse(validFrom))],
      ['days-valid', '3650'],
      ['.fingerprint', fingerprint256.replaceAll(':', '').toLowerCase()],
    ]);
    const table = this.table('/ip/service');
    const item = table.find('name', 'api-ssl');
    if (item) table.update(item, [['certificate', 'simulator']]);
  }

  ownSession(session: Pick<Session, 'user' | 'policies' | 'origin'>): Session & { end(): void } {
    const controller = new AbortController();
    const life = this.#life.signal;
    const end = (): void => {
      life.removeEventListener('abort', end);
      controller.abort();
    };
    if (life.aborted) end();
    else life.addEventListener('abort', end, { once: true });
    return { ...session, signal: controller.signal, end };
  }

  settled(): Promise<void> {
    return this.#nat.settled();
  }

  observe(): Promise<void> {
    return this.#nat.observe();
  }

  scheduleReboot(downMs: number = this.options.rebootMs): void {
    this.#cancelReboot();
    this.#cancelReboot = this.time.after(REBOOT_GRACE_MS, () => {
      void this.powerOff();
      this.#cancelReboot = this.time.after(downMs, () => this.boot());
    });
  }

  /** Everything running stops and every connection ends. Resolves when the listeners of dst-nat rules are closed. */
  async powerOff(): Promise<void> {
    this.#cancelReboot();
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#stopReactions();
    this.#scheduler.stop();
    this.#netwatch.stop();
    this.#life.abort();
    this.sessions.closeAll(false);
    await this.#nat.stop();
  }

  /** Comes up again after a power-off: what is not kept is gone and uptime starts anew. */
  boot(): void {
    this.clock.reboot();
    if (this.model.flashFolder) this.files.keepOnlyFlash();
    for (const path of ['/log', '/ip/firewall/connection', '/system/script/job']) this.table(path).clear();
    this.globals.clear();
    this.log('system,info', 'router rebooted');
    this.powerOn();
  }

  /** Starts serving: firewall, dst-nat listeners and scheduler. */
  powerOn(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#life = new AbortController();
    this.#stopReactions = startReactions(this);
    this.#nat.start();
    this.#scheduler.start();
    this.#netwatch.start();
  }

  resetConfiguration({ keepUsers, noDefaults, runAfter }: ConfigurationReset): void {
    const users = keepUsers ? ['/user', '/user/group', '/user/ssh-keys'] : [];
    this.#cancelReboot();
    this.#cancelReboot = this.time.after(REBOOT_GRACE_MS, () => {
      void this.powerOff();
      this.#registry.reset(users);
      for (const path of SEEN) this.table(path).clear();
      seedRouter(this, noDefaults, keepUsers ? undefined : OUT_OF_THE_BOX);
      this.#cancelReboot = this.time.after(this.options.rebootMs, () => {
        this.boot();
        if (runAfter !== undefined) runFile(this, runAfter);
      });
    });
  }

  saveConfiguration(): string {
    const stored = this.#registry.definitions().filter((menu) => this.#registry.table(menu.path) && !menu.volatile);
    return JSON.stringify(stored.map((menu) => [menu.path, this.table(menu.path).save()]));
  }

  restoreConfiguration(saved: string): void {
    const tables = JSON.parse(saved) as [string, SavedTable][];
    for (const [path, table] of tables) this.#registry.table(path)?.restore(table);
  }
}

function softwareId(identity: string, model: Model): string {
  if (model.boardName === 'CHR') return boardNumber(`system ${identity}`, 11);
  return boardNumber(`software ${identity}`, 8).replace(/^(.{4})/, '$1-');
}
