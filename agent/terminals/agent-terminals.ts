import type { AgentMessage, Request, ShellEnd, TerminalLevel } from '../../protocol/index.ts';
import type { Clock } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import { allowsTerminal } from '../core/terminal-level.ts';
import type { DialChannel } from '../forward/types.ts';
import type { Deadline, RouterAdapter, RouterShell, WindowSize } from '../routers/adapter.ts';
import { KeptShell } from './kept-shell.ts';

type TerminalOpenParams = Extract<Request, { method: 'terminal.open' }>['params'];
type TerminalEnded = Extract<AgentMessage, { type: 'terminal.ended' }>;

export interface AgentTerminalsOptions {
  routers: Routers;
  /** `terminal` of the configuration: the highest level that is allowed. */
  level: 'off' | TerminalLevel;
  dialChannel: DialChannel;
  send: (message: TerminalEnded) => boolean;
  clock: Clock;
  log: Log;
}

/** Shells of one agent: each has a connection to its router, a channel and 256 KiB of output. */
export const MAX_SHELLS = 50;
/** RouterOS refuses further SSH sessions of a small board soon after that. */
export const MAX_SHELLS_PER_ROUTER = 5;

interface Opening {
  router: string;
  /** Gives it up: whoever wanted the shell no longer does. */
  abort: AbortController;
}

/** The agent's side of terminals: opens shells on routers and keeps them while the way to their readers is broken. */
export class AgentTerminals {
  readonly #options: AgentTerminalsOptions;
  readonly #shells = new Map<string, KeptShell>();
  /** Shells being opened, by id. */
  readonly #opening = new Map<string, Opening>();
  #isStopped = false;

  constructor(options: AgentTerminalsOptions) {
    this.#options = options;
  }

  /**
   * Opens a shell, or carries on with one that is open.
   * @throws AgentError `not_allowed`, `unsupported`, `invalid` (`terminal` says which), `router_unreachable`, `rejected`, …
   */
  async open(params: TerminalOpenParams, deadline: Deadline): Promise<{ from: number }> {
    const end = { token: params.channel_token, url: params.channel_url };
    const kept = this.#shells.get(params.terminal_id);
    if (kept) return { from: kept.resume(end, params.from) };
    if (params.resume) throw new AgentError('invalid', 'the agent no longer has this shell', { terminal: 'terminal_gone' });
    this.#refuse(params);
    const router = findRouter(this.#options.routers, params.router, params.hardware_id);
    const opening = { router: params.router, abort: new AbortController() };
    this.#opening.set(params.terminal_id, opening);
    try {
      const shell = await openShell(router, params, { ...deadline, signal: eitherOf(deadline.signal, opening.abort.signal) });
      return { from: this.#keep(params, shell, opening).resume(end, params.from) };
    } finally {
      this.#opening.delete(params.terminal_id);
    }
  }

  /** Ends a shell at once, also one that is being opened; without effect when there is none. */
  close(id: string): void {
    this.#opening.get(id)?.abort.abort(closedEarly());
    this.#shells.get(id)?.forget();
  }

  /** Ends every shell, because the agent was revoked. */
  closeAll(): void {
    for (const { abort } of this.#opening.values()) abort.abort(closedEarly());
    for (const shell of this.#shells.values()) shell.forget();
  }

  resize(id: string, size: WindowSize): void {
    this.#shells.get(id)?.resize(size);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const shell of this.#shells.values()) shell.end('agent_stopped', 'the agent is stopping');
    this.closeAll();
  }

  #keep(params: TerminalOpenParams, shell: RouterShell, { abort }: Opening): KeptShell {
    const { clock, log, dialChannel } = this.#options;
    const id = params.terminal_id;
    // The router may have answered in the moment in which it was given up.
    if (this.#isStopped || abort.signal.aborted) {
      shell.destroy();
      throw this.#isStopped ? new AgentError('internal', 'the agent is stopping') : closedEarly();
    }
    const kept = new KeptShell({
      id,
      router: params.router,
      shell,
      times: { endsAt: clock.sinceBoot() + params.expires_in_ms, idleMs: params.idle_ms, keepMs: params.keep_ms },
      dialChannel,
      clock,
      log,
      onEnded: (reason, message) => this.#report(id, reason, message),
      onForgotten: () => this.#shells.delete(id),
    });
    this.#shells.set(id, kept);
    log.info({ terminal_id: id, router: params.router, level: params.level }, 'a terminal was opened');
    return kept;
  }

  #report(id: string, reason: ShellEnd, message: string): void {
    this.#options.log.info({ terminal_id: id, reason }, 'a terminal has ended');
    this.#options.send({ type: 'terminal.ended', terminal_id: id, reason, message: message.slice(0, 300) });
  }

  #refuse({ terminal_id: id, router: name, level }: TerminalOpenParams): void {
    const { level: allowed, routers } = this.#options;
    if (this.#isStopped) throw new AgentError('internal', 'the agent is stopping');
    if (this.#opening.has(id)) throw new AgentError('invalid', 'this terminal is already being opened');
    if (allowed === 'off')
      throw new AgentError('not_allowed', 'terminals are off at this agent (`terminal` in agent.yaml)', { terminal: 'terminal_off' });
    if (!allowsTerminal(allowed, level))
      throw new AgentError('not_allowed', 'this agent opens terminals of the level read only (`terminal` in agent.yaml)', {
        terminal: 'terminal_level_off',
      });
    if (routers.get(name)?.terminalLevels.includes(level) === false)
      throw new AgentError('unsupported', `agent.yaml has no user for terminals of the level ${level} of this router`, {
        terminal: 'terminal_no_user',
      });
    const ofRouter = [...this.#shells.values()].filter(({ router }) => router === name).length;
    const opening = [...this.#opening.values()].filter(({ router }) => router === name).length;
    if (ofRouter + opening >= MAX_SHELLS_PER_ROUTER || this.#shells.size + this.#opening.size >= MAX_SHELLS)
      throw new AgentError('not_allowed', 'the agent has as many terminals open as it may', { terminal: 'terminal_limit' });
  }
}

function closedEarly(): AgentError {
  return new AgentError('not_allowed', 'the terminal was closed while it was being opened');
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return one ? AbortSignal.any([one, other]) : other;
}

/** @throws AgentError whose `terminal` names a refusal of the router */
async function openShell(router: RouterAdapter, { level, cols, rows }: TerminalOpenParams, deadline: Deadline): Promise<RouterShell> {
  try {
    return await router.openShell(level, { cols, rows }, deadline);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error.reason === 'login_refused')
      throw new AgentError('router_unreachable', `the router refuses the login of the user for the level ${level}`, {
        cause: error,
        reason: error.reason,
        terminal: 'login_refused',
      });
    if (error.code === 'rejected')
      throw new AgentError('rejected', `the router opens no shell: ${error.message}`, { cause: error, terminal: 'shell_refused' });
    throw error;
  }
}
