import pino from 'pino';
import { AgentError } from './core/errors.ts';
import { LinkError } from './link/errors.ts';

/**
 * An error as the agent logs it. What a person can mend, or a network did, says in its message what its cause said, and where
 * in the program it was noticed explains nothing; of all others everything is kept.
 */
export function errorForLog(error: unknown): unknown {
  if (isExpected(error)) return { type: error.name, code: error.code, message: error.message };
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

function isExpected(error: unknown): error is AgentError | LinkError {
  return (error instanceof AgentError && error.code !== 'internal') || error instanceof LinkError;
}
