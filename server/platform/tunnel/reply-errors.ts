import type { ReplyError, ReplyErrorCode } from '../../../protocol/index.ts';
import { AppError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';

/** What an agent's refusal is called in the control plane. */
const APP_CODES: Record<ReplyErrorCode, ErrorCode> = {
  rejected: 'rejected_by_router',
  router_unreachable: 'router_unreachable',
  outcome_unknown: 'outcome_unknown',
  // The control plane would allow it, the agent's or the router's nature does not: the request cannot be fulfilled as it is.
  not_allowed: 'invalid',
  invalid: 'invalid',
  unsupported: 'invalid',
  // Another device answers in the router's place, so this router is not to be had.
  wrong_router: 'router_unreachable',
  internal: 'internal',
};

/** The agent's words that the table above folds into a wider one. */
const KEPT_AS_REASON: ReadonlySet<ReplyErrorCode> = new Set(['not_allowed', 'unsupported', 'wrong_router']);

/** The error of a reply as the features see it: `extra` carries the trap `category`, or the agent's word as `reason`. */
export function replyErrorToAppError({ code, message, category }: ReplyError): AppError {
  const extra = { ...(category === undefined ? {} : { category }), ...(KEPT_AS_REASON.has(code) ? { reason: code } : {}) };
  const words = code === 'outcome_unknown' ? `${message}: the outcome is unknown` : message;
  return new AppError(APP_CODES[code], words, Object.keys(extra).length > 0 ? { extra } : {});
}
