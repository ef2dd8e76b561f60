import { cleanLines } from '../../routeros-text/router-text.ts';

/** A router's own text is part of many messages; what is longer than this fits neither a reply nor a line of the log. */
const LONGEST_MESSAGE = 4096;

/**
 * Every way an errand of the agent can fail, as a stable word that also travels on the tunnel
 * (protocol's reply errors). Nothing matches on message texts.
 */
export type AgentErrorCode =
  /** The router understood and said no; `message` is its own text, `category` its trap category. */
  | 'rejected'
  /** No session with the router could be had; nothing was sent. */
  | 'router_unreachable'
  /** The request was sent, and no answer came in time or the session broke: it may have happened. */
  | 'outcome_unknown'
  /** The agent's own rules forbid it (destination allow-list, never-ending command). */
  | 'not_allowed'
  /** The request itself is wrong: unknown router name, malformed words. */
  | 'invalid'
  /** This router or this version cannot do it. */
  | 'unsupported'
  /** The router behind this name is not the one the control plane means. */
  | 'wrong_router'
  | 'internal';

/** Its message may be the router's own words, which go to logs, terminals and databases: it is cleaned here, once for all of them. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;
  /** RouterOS trap category 0-7 where the router gave one. */
  readonly category: number | undefined;

  constructor(code: AgentErrorCode, message: string, options: { cause?: unknown; category?: number | undefined } = {}) {
    super(cleanLines(message, LONGEST_MESSAGE), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AgentError';
    this.code = code;
    this.category = options.category;
  }
}
