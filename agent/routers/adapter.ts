import type { Duplex } from 'node:stream';

/**
 * The only view that the agent's work (commands, jobs, forwards, inventory) has of a router. Which of the
 * two sessions, RouterOS API or SSH, does an errand is this layer's business.
 */

export interface Deadline {
  /** Milliseconds from now; every errand has one. */
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

/** What is known of a router since its last successful inventory. */
export interface RouterFacts {
  /** Routerboard serial number, else the CHR/x86 software or system id: who this router is. */
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
  /** Null: it prints none, or one that cannot be. */
  uptimeSeconds: number | null;
  /** Properties that were no text or no fact, by their names on the router; absent when there was none. */
  cleaned?: readonly string[];
}

export interface RouterState {
  reachable: boolean;
  /** Why not, as a short text for people. */
  reason: string | null;
  facts: RouterFacts | null;
}

export interface ConsoleOutput {
  /** Text as the router printed it, line ends normalised to LF. Success and failure are the caller's to read from it. */
  text: string;
  /** Set when more came than `maxBytes`; the rest was dropped. */
  truncated: boolean;
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
  /** The name under which the agent logs in to the API; left out where there is none. */
  readonly apiUser?: string | undefined;

  state(): RouterState;
  /** Called after every change of reachability or facts. Returns a function that ends the subscription. */
  onState(listener: (state: RouterState) => void): () => void;
  /** Reads the inventory now, connecting if needed. @throws AgentError `router_unreachable` */
  refresh(deadline: Deadline): Promise<RouterFacts>;

  /**
   * One command over the RouterOS API. Fails at once with `router_unreachable` while there is no session,
   * with `rejected` when the router says no, with `outcome_unknown` when no answer came in time. With SSH alone it
   * is put as a console line, and what a console cannot say (queries beyond equality, listen) is `unsupported`.
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

  /** Opens a session of its own, logs in and closes it: proves that the router can still be reached afresh. */
  testLogin(deadline: Deadline): Promise<void>;

  close(): Promise<void>;
}
