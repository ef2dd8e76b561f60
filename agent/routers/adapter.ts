import type { Duplex } from 'node:stream';
import type { RouterReason, TerminalLevel } from '../../protocol/index.ts';

/**
 * The interface of a router for the agent's features (commands, jobs, forwards, telemetry). It hides which of the two sessions,
 * RouterOS API or SSH, executes an operation.
 */

export interface Deadline {
  /** Milliseconds from now; every operation has one. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Rows in the router's own property names (`.id`, `mac-address`); every value is the router's text. */
export type RouterRow = Record<string, string>;

export interface CommandReply {
  rows: RouterRow[];
  /** `=ret=` of `!done`, for example the `.id` of an added item. */
  ret?: string;
}

export interface ApiCommand {
  /** API path with the command: `/ip/address/print`. */
  path: string;
  /** Attribute, query and API words in order: `=disabled=no`, `?type=ether`, `.proplist=name`. Never `.tag`. */
  words: readonly string[];
}

/** Facts about a router from its last successful inventory. */
export interface RouterFacts {
  /** Identifies the router: its serial number, on CHR and x86 its software id or system id. */
  hardwareId: string;
  serialNumber: string | null;
  softwareId: string | null;
  identity: string;
  /** `7.18.2`, without channel words. */
  softwareVersion: string;
  model: string | null;
  boardName: string;
  /** True for MikroTik's own boards, false for CHR and x86. */
  hardwareBoard: boolean;
  architecture: string | null;
  timeZone: string | null;
  /** Uptime when read, as the router prints it: `1w3d15h41m57s`. */
  uptime: string;
  /** Null: the router prints none, or an impossible one. */
  uptimeSeconds: number | null;
  /** Properties with invalid text or values, by their names on the router; absent when there are none. */
  cleaned?: readonly string[];
}

export interface RouterState {
  reachable: boolean;
  /** Why it is not reachable, as a short text for people. */
  reason: string | null;
  /** Why it is not reachable, in one word for programs. */
  reasonCode?: RouterReason | undefined;
  /** When it answered last, on the monotonic clock; only if it went silent, so that the loss was noticed late. */
  silentSince?: number | undefined;
  facts: RouterFacts | null;
}

export interface ConsoleOutput {
  /** The router's output with line ends as LF. The caller must determine success or failure from it. */
  text: string;
  /** True when there were more than `maxBytes` bytes; the rest was dropped. */
  truncated: boolean;
}

/** Columns and rows of a terminal's window. */
export interface WindowSize {
  cols: number;
  rows: number;
}

/** An interactive shell of the router with a terminal. Its bytes are the router's own; destroying it logs out. */
export interface RouterShell extends Duplex {
  resize(size: WindowSize): void;
}

export interface RouterAdapter {
  /** The name in the agent's configuration; unique within the agent. */
  readonly name: string;
  /** Address under which the agent reaches the router. */
  readonly host: string;
  /** The way fixed by configuration, or `auto`. */
  readonly forwardWay: 'auto' | 'ssh' | 'api' | 'direct';
  readonly hasApi: boolean;
  readonly hasSsh: boolean;
  /** The agent's user name for the API; absent without API. */
  readonly apiUser?: string | undefined;
  /** The agent's user name for commands: of the API, or of SSH without API. */
  readonly user?: string | undefined;

  state(): RouterState;
  /** Calls the listener after every change of reachability or facts. @returns a function that unsubscribes */
  onState(listener: (state: RouterState) => void): () => void;
  /** Reads the inventory now, connecting if needed. @throws AgentError `router_unreachable` */
  refresh(deadline: Deadline): Promise<RouterFacts>;

  /**
   * One command over the RouterOS API. Fails at once with `router_unreachable` while there is no session, with `rejected` when the
   * router refuses, with `outcome_unknown` when no answer came in time. With SSH only it is converted to a console line; what a
   * console cannot express (queries beyond equality, listen) is `unsupported`.
   */
  command(command: ApiCommand, deadline: Deadline): Promise<CommandReply>;

  /**
   * Runs one line of console text in a session of its own and returns what it printed, by API
   * `/execute as-string` (7.8+) or SSH exec. Throws `unsupported` where the router offers neither.
   */
  console(line: string, deadline: Deadline & { maxBytes: number }): Promise<ConsoleOutput>;

  /** Opens a TCP connection to `host:port` as the router sees it (SSH direct-tcpip). The stream keeps half-close. */
  openTcp(target: { host: string; port: number }, deadline: Deadline): Promise<Duplex>;

  /** Reads a file from the router by SFTP, checked against its size. */
  readFile(name: string, deadline: Deadline & { maxBytes: number }): Promise<Buffer>;

  /** Levels of terminals for which a user is configured. */
  readonly terminalLevels: readonly TerminalLevel[];

  /**
   * Logs in with the user of this level, in a connection of its own, and opens a shell with a terminal.
   * @throws AgentError `unsupported` without such a user, `router_unreachable`, `rejected`, `outcome_unknown`
   */
  openShell(level: TerminalLevel, size: WindowSize, deadline: Deadline): Promise<RouterShell>;

  /** Opens a new session, logs in and closes it: proves that the router accepts new sessions. @throws AgentError */
  testLogin(deadline: Deadline): Promise<void>;

  close(): Promise<void>;
}
