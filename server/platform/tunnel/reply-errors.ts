import type { ReplyError, ReplyErrorCode } from '../../../protocol/index.ts';
import { AppError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';

/** Maps error codes of agents to those of the control plane. */
const APP_CODES: Record<ReplyErrorCode, ErrorCode> = {
  rejected: 'rejected_by_router',
  router_unreachable: 'router_unreachable',
  outcome_unknown: 'outcome_unknown',
  // The control plane allows it, but the agent or the router cannot do it.
  not_allowed: 'invalid',
  invalid: 'invalid',
  unsupported: 'invalid',
  // Another device answers in the router's place, so this router is unreachable.
  wrong_router: 'router_unreachable',
  internal: 'internal',
};

/** Agent codes that the table above maps to a more general one. */
const KEPT_AS_REASON: ReadonlySet<ReplyErrorCode> = new Set(['not_allowed', 'unsupported', 'wrong_router']);

/** Converts a reply's error for the features: `extra` carries the trap `category`, or the agent's code as `reason`. */
export function replyErrorToAppError({ code, message, category, reason }: ReplyError): AppError {
  const why = reason ?? (KEPT_AS_REASON.has(code) ? code : undefined);
  const extra = { ...(category === undefined ? {} : { category }), ...(why === undefined ? {} : { reason: why }) };
  const text = code === 'outcome_unknown' ? `${message}: the outcome is unknown` : message;
  return new AppError(APP_CODES[code], text, Object.keys(extra).length > 0 ? { extra } : {});
}
