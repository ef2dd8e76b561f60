import type { RouterReason } from '../../../protocol/index.ts';
import { AgentError } from '../../core/errors.ts';
import { describeNetworkError, reasonOfNetworkError } from '../network-errors.ts';

/** RFC 4254, 5.1. RouterOS sends 1 with forwarding switched off, and 2 when it could not connect. */
const ADMINISTRATIVELY_PROHIBITED = 1;
const CONNECT_FAILED = 2;

function reasonOf(error: Error): unknown {
  return 'reason' in error ? error.reason : undefined;
}

/** The error for a failed TCP connection through the router. */
export function forwardFailure(error: Error): AgentError {
  const reason = reasonOf(error);
  if (reason === ADMINISTRATIVELY_PROHIBITED) {
    return new AgentError('not_allowed', 'the router forbids it: /ip/ssh forwarding-enabled must be local or both', { cause: error });
  }
  if (reason === CONNECT_FAILED) {
    return new AgentError('rejected', 'connect failed: the router could not reach the target', { cause: error });
  }
  return channelFailure(error);
}

/** The error for a failed channel (exec, sftp). */
export function channelFailure(error: Error): AgentError {
  const refused = reasonOf(error) !== undefined || error.message.startsWith('Unable to ');
  return new AgentError(refused ? 'rejected' : 'outcome_unknown', describeNetworkError(error), { cause: error });
}

/** The same as {@link describeSshError} in one word, for programs. */
export function reasonOfSshError(error: Error): RouterReason {
  const level = 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') return 'login_refused';
  if (level === 'client-timeout') return 'timeout';
  // The connection was lost before the handshake was over, or what came was no SSH.
  if (level === 'protocol') return 'closed';
  const reason = reasonOfNetworkError(error);
  // `refused` is of the API: another service is switched on again in another place.
  return reason === 'refused' ? 'ssh_refused' : reason;
}

/** Why the connection ended, as text for people. ssh2's `level` names the part that failed. */
export function describeSshError(error: Error): string {
  const level = 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') return 'login refused';
  if (level === 'client-timeout') return 'the router no longer answers';
  return describeNetworkError(error);
}
