import type { RouterClock } from './clock.ts';
import type { ExecutionRecord } from './executions.ts';
import type { Faults } from './faults.ts';
import type { FileStore } from './files.ts';
import type { Mail } from './mail.ts';
import type { ItemTable } from './menu/table.ts';
import type { MenuTree, ScriptEngine, Session } from './menu/types.ts';
import type { Model } from './models.ts';
import type { SimulatorOptions } from './options.ts';
import type { SessionRegistry } from './sessions.ts';
import type { TimeSource } from './time.ts';
import type { RouterVersion } from './version.ts';

export interface ConfigurationReset {
  readonly keepUsers: boolean;
  /** Not even the default configuration. */
  readonly noDefaults: boolean;
  /** File with commands to run after the reboot. */
  readonly runAfter: string | undefined;
}

/** Everything a menu may see and touch of the router it belongs to. */
export interface RouterState {
  readonly options: SimulatorOptions;
  readonly version: RouterVersion;
  readonly model: Model;
  readonly serialNumber: string;
  readonly softwareId: string;
  readonly time: TimeSource;
  readonly clock: RouterClock;
  readonly files: FileStore;
  readonly sessions: SessionRegistry;
  readonly executions: ExecutionRecord;
  readonly faults: Faults;
  readonly menus: MenuTree;
  readonly scripts: ScriptEngine;
  /** Global script variables by user; a reboot forgets them. Filled by the script engine. */
  readonly globals: Map<string, Map<string, unknown>>;
  /** What `/tool/e-mail` has sent, oldest first. */
  readonly mails: Mail[];
  /** The items behind a menu; RangeError for a menu this version does not have. */
  table(path: string): ItemTable;
  /** A value of a one-record menu such as /ip/ssh; '' when unset or absent. */
  setting(path: string, name: string): string;
  hasMenu(path: string): boolean;
  /** Where an address the router would connect to really is. */
  resolveHost(address: string): { address: string; routesBack: boolean };
  log(topics: string, message: string): void;
  policiesOf(user: string): ReadonlySet<string>;
  /** A session of the router's own (scheduler, script job) with a signal that also ends at a reboot. */
  ownSession(session: Pick<Session, 'user' | 'policies' | 'origin'>): Session & { end(): void };
  /** Starts a reboot and returns at once; sessions are dropped a moment later. */
  scheduleReboot(downMs?: number): void;
  /** Resolves when what was changed has taken effect (rules that forward). */
  settled(): Promise<void>;
  /** Brings up to date what the router only watches: counters of rules, tracked connections. */
  observe(): Promise<void>;
  /** Throws everything away and reboots; what `runAfter` names is imported when the router is up again. */
  resetConfiguration(reset: ConfigurationReset): void;
  /** All that a backup holds. */
  saveConfiguration(): string;
  restoreConfiguration(saved: string): void;
}
