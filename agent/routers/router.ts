import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../core/clock.ts';
import { type Deadline, remaining } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { TerminalLevel } from '../../protocol/index.ts';
import type {
  ApiCommand,
  CommandReply,
  ConsoleOutput,
  RouterAdapter,
  RouterFacts,
  RouterShell,
  RouterState,
  WindowSize,
} from './adapter.ts';
import { toConsole } from './console-commands.ts';
import { exportLine, printsExport, readExport } from './export-command.ts';
import { isAtLeast } from '../../routeros-text/versions.ts';
import { apiReader, type InventoryReader, sshReader } from './inventory-reader.ts';
import type { Log } from '../core/log.ts';
import { openApi, openSsh, openTerminalSsh, type RouterAccess, terminalLevelsOf } from './open-sessions.ts';
import { RouterPresence } from './presence.ts';
import type { RouterOsApi } from './routeros-api/index.ts';
import { SharedSession } from './shared-session.ts';
import type { SshSession } from './ssh/index.ts';

export interface RouterConfig extends RouterAccess {
  forward_way: RouterAdapter['forwardWay'];
}

export interface RouterDeps {
  /** Folder for first-seen host keys. */
  stateFolder: string;
  log: Log;
  clock?: Clock;
  random?: () => number;
}

/** First version with `/execute as-string`; before it a console needs SSH. */
const AS_STRING_SINCE = '7.8';

/** Largest console output of one command: about 50,000 rows. */
const CONSOLE_REPLY_BYTES = 16 * 1024 * 1024;

/**
 * Creates the adapter of one router. It starts connecting at once; {@link RouterAdapter.close} ends it. The API session, or the SSH
 * session without API, determines the router's presence.
 */
export function createRouterAdapter(config: RouterConfig, deps: RouterDeps): RouterAdapter {
  const clock = deps.clock ?? systemClock;
  const random = deps.random ?? Math.random;
  const open = {
    api: (deadline: Deadline): Promise<RouterOsApi> => openApi(config, deadline),
    ssh: (deadline: Deadline): Promise<SshSession> => openSsh(config, deps.stateFolder, deadline),
    terminal: (level: TerminalLevel, deadline: Deadline): Promise<SshSession> => openTerminalSsh(config, level, deps.stateFolder, deadline),
  };
  const present = <S extends RouterOsApi | SshSession>(
    openIt: (deadline: Deadline) => Promise<S>,
    reader: InventoryReader<S>,
  ): RouterPresence<S> => new RouterPresence({ router: config.name, open: openIt, reader, clock, random, log: deps.log });
  if (!config.api) {
    const presence = present(open.ssh, sshReader);
    return new Router(config, { presence, ssh: presence, open });
  }
  const presence = present(open.api, apiReader);
  const ssh = config.ssh ? new SharedSession(open.ssh) : undefined;
  return new Router(config, { presence, api: presence, ssh, open });
}

/** Provides a session for an operation. */
interface SessionSource<S> {
  get(deadline: Deadline): Promise<S>;
  close(): Promise<void>;
}

interface RouterParts {
  presence: RouterPresence<RouterOsApi> | RouterPresence<SshSession>;
  api?: SessionSource<RouterOsApi> | undefined;
  ssh?: SessionSource<SshSession> | undefined;
  open: {
    api: (deadline: Deadline) => Promise<RouterOsApi>;
    ssh: (deadline: Deadline) => Promise<SshSession>;
    terminal: (level: TerminalLevel, deadline: Deadline) => Promise<SshSession>;
  };
}

class Router implements RouterAdapter {
  readonly name: string;
  readonly host: string;
  readonly forwardWay: RouterAdapter['forwardWay'];
  readonly hasApi: boolean;
  readonly hasSsh: boolean;
  readonly apiUser: string | undefined;
  readonly user: string | undefined;
  readonly terminalLevels: readonly TerminalLevel[];
  readonly #parts: RouterParts;

  constructor(config: RouterConfig, parts: RouterParts) {
    this.name = config.name;
    this.host = config.host;
    this.forwardWay = config.forward_way;
    this.hasApi = parts.api !== undefined;
    this.hasSsh = parts.ssh !== undefined;
    this.apiUser = config.api?.username;
    this.user = (config.api ?? config.ssh)?.username;
    this.terminalLevels = terminalLevelsOf(config);
    this.#parts = parts;
    parts.presence.start();
  }

  state(): RouterState {
    return this.#parts.presence.state;
  }

  onState(listener: (state: RouterState) => void): () => void {
    return this.#parts.presence.subscribe(listener);
  }

  refresh(deadline: Deadline): Promise<RouterFacts> {
    return this.#parts.presence.refresh(deadline);
  }

  async command(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    if (printsExport(command)) return this.#export(command, deadline);
    if (!this.hasApi) return this.#commandByConsole(command, deadline);
    const startedAt = performance.now();
    const api = await this.#api(deadline);
    return api.command(command, remaining(deadline, startedAt));
  }

  async console(line: string, deadline: Deadline & { maxBytes: number }): Promise<ConsoleOutput> {
    const startedAt = performance.now();
    if (this.#canExecuteAsString()) {
      const api = await this.#api(deadline);
      const words = [`=script=${line}`, '=as-string='];
      const { ret = '' } = await api.command({ path: '/execute', words }, remaining(deadline, startedAt));
      return bounded(ret, deadline.maxBytes);
    }
    return this.#consoleBySsh(line, deadline);
  }

  async openTcp(target: { host: string; port: number }, deadline: Deadline): Promise<Duplex> {
    const startedAt = performance.now();
    const ssh = await this.#ssh(deadline, 'connections through the router need ssh, which is not configured');
    return ssh.openTcp(target, remaining(deadline, startedAt));
  }

  async readFile(name: string, deadline: Deadline & { maxBytes: number }): Promise<Buffer> {
    const startedAt = performance.now();
    const ssh = await this.#ssh(deadline, 'reading files needs ssh, which is not configured');
    return ssh.readFile(name, { ...remaining(deadline, startedAt), maxBytes: deadline.maxBytes });
  }

  async openShell(level: TerminalLevel, size: WindowSize, deadline: Deadline): Promise<RouterShell> {
    const startedAt = performance.now();
    const session = await this.#parts.open.terminal(level, deadline);
    try {
      const shell = await session.openShell(size, remaining(deadline, startedAt));
      // The connection serves this shell alone.
      shell.once('close', () => void session.close());
      return shell;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async testLogin(deadline: Deadline): Promise<void> {
    const { open } = this.#parts;
    const session = await (this.hasApi ? open.api(deadline) : open.ssh(deadline));
    await session.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.presence.close(), this.#parts.ssh?.close()]);
  }

  /** The API prints nothing for `export` (docs/routeros-facts.md), so it uses a console, over SSH if configured. */
  async #export(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    const line = exportLine(command);
    const options = { ...deadline, maxBytes: CONSOLE_REPLY_BYTES };
    const { text, truncated } = await (this.hasSsh ? this.#consoleBySsh(line, options) : this.console(line, options));
    if (truncated) throw new AgentError('not_allowed', `the export is larger than ${CONSOLE_REPLY_BYTES} bytes`);
    return readExport(text);
  }

  async #consoleBySsh(line: string, deadline: Deadline & { maxBytes: number }): Promise<ConsoleOutput> {
    const startedAt = performance.now();
    const ssh = await this.#ssh(deadline, 'this version has no /execute as-string (from 7.8), and ssh is not configured');
    const options = { ...remaining(deadline, startedAt), maxBytes: deadline.maxBytes };
    const { text, truncated, exitStatus } = await ssh.exec(line, options);
    // Only the missing exit status shows that the connection broke: the line may still be running, or be cut off.
    if (exitStatus === null) throw new AgentError('outcome_unknown', 'the console closed before the command had ended');
    return { text, truncated };
  }

  async #commandByConsole(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    const { line, read } = toConsole(command, `done-${randomBytes(8).toString('hex')}`);
    const { text, truncated } = await this.console(line, { ...deadline, maxBytes: CONSOLE_REPLY_BYTES });
    if (truncated) throw new AgentError('not_allowed', `the answer is larger than ${CONSOLE_REPLY_BYTES} bytes`);
    return read(text);
  }

  /** False while the version is unknown, before the inventory of a new session is read. */
  #canExecuteAsString(): boolean {
    const version = this.state().facts?.softwareVersion;
    return this.hasApi && version !== undefined && isAtLeast(version, AS_STRING_SINCE);
  }

  #api(deadline: Deadline): Promise<RouterOsApi> {
    const { api } = this.#parts;
    if (!api) throw new AgentError('unsupported', 'commands need the RouterOS API, which is not configured for this router');
    return api.get(deadline);
  }

  #ssh(deadline: Deadline, otherwise: string): Promise<SshSession> {
    const { ssh } = this.#parts;
    if (!ssh) throw new AgentError('unsupported', otherwise);
    return ssh.get(deadline);
  }
}

/** The text with line ends as LF, and at most `maxBytes` of UTF-8. */
function bounded(text: string, maxBytes: number): ConsoleOutput {
  const lines = text.replaceAll('\r\n', '\n');
  const bytes = Buffer.from(lines);
  if (bytes.length <= maxBytes) return { text: lines, truncated: false };
  return {
    text: bytes
      .subarray(0, maxBytes)
      .toString('utf8')
      .replace(/\uFFFD$/, ''),
    truncated: true,
  };
}
