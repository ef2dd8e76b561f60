import pino from 'pino';
import { AgentError } from './core/errors.ts';
import { LinkError } from './link/errors.ts';

/**
 * An error as the agent logs it. The message of an expected error (configuration, network) contains its cause, and a stack would not
 * help. All other errors are logged completely.
 */
export function errorForLog(error: unknown): unknown {
  if (isExpected(error)) return { type: error.name, code: error.code, message: error.message };
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

function isExpected(error: unknown): error is AgentError | LinkError {
  return (error instanceof AgentError && error.code !== 'internal') || error instanceof LinkError;
}
