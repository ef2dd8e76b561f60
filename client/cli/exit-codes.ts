import { ConnectionError, ProblemError } from '../errors.ts';
import { ConfigError } from '../config.ts';
import type { Job } from '../generated.ts';
import { UsageError } from './command.ts';

/** Exit codes that scripts can act on. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** The server, the agent or the router cannot be reached. Nothing was done. */
  notConnected: 3,
  /** The operation may or may not have been carried out. */
  unknown: 4,
  notAuthorised: 5,
  /** Ctrl-C: 128 + SIGINT, as shells report it. */
  interrupted: 130,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  unauthenticated: EXIT.notAuthorised,
  forbidden: EXIT.notAuthorised,
  agent_offline: EXIT.notConnected,
  router_unreachable: EXIT.notConnected,
  unavailable: EXIT.notConnected,
  outcome_unknown: EXIT.unknown,
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT.usage;
  if (error instanceof ConnectionError) return error.maybeDone ? EXIT.unknown : EXIT.notConnected;
  if (error instanceof ProblemError) return BY_CODE[error.code] ?? EXIT.failed;
  return EXIT.failed;
}

/** Exit code for a job that has ended. */
export function exitCodeOfJob({ status }: Pick<Job, 'status'>): number {
  if (status === 'completed') return EXIT.ok;
  return status === 'unknown' ? EXIT.unknown : EXIT.failed;
}
