import type { RouterReason, TerminalRefusal } from '../../protocol/index.ts';
import { cleanLines } from '../../routeros-text/router-text.ts';

/** Longest message. Many contain a router's own text; longer ones fit neither a reply nor a log line. */
const LONGEST_MESSAGE = 4096;

/**
 * Every way in which an operation of the agent can fail, as a stable code. The tunnel uses the same codes (the protocol's reply
 * errors). Nothing matches on message texts.
 */
export type AgentErrorCode =
  /** The router refused; `message` is its own text, `category` its trap category. */
  | 'rejected'
  /** There is no session with the router; nothing was sent. */
  | 'router_unreachable'
  /** The request was sent, but no answer came in time or the session broke: it may have taken effect. */
  | 'outcome_unknown'
  /** The agent's own rules forbid it (destination allow-list, size limits). */
  | 'not_allowed'
  /** The request itself is wrong: unknown router name, malformed words. */
  | 'invalid'
  /** This router or its version does not support it. */
  | 'unsupported'
  /** Another router than expected answers under this name. */
  | 'wrong_router'
  | 'internal';

/** Cleans its message, which may be the router's own text and goes to logs, terminals and databases. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  /** RouterOS trap category 0-7 where the router gave one. */
  readonly category: number | undefined;
  /** Of `router_unreachable`: why, in one word for programs. */
  readonly reason: RouterReason;
  /** Why a terminal cannot be opened, in one word for programs. */
  readonly terminal: TerminalRefusal | undefined;

  constructor(
    code: AgentErrorCode,
    message: string,
    options: {
      cause?: unknown;
      category?: number | undefined;
      reason?: RouterReason | undefined;
      terminal?: TerminalRefusal | undefined;
    } = {},
  ) {
    super(cleanLines(message, LONGEST_MESSAGE), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AgentError';
    this.code = code;
    this.category = options.category;
    this.reason = options.reason ?? 'unknown';
    this.terminal = options.terminal;
  }
}
