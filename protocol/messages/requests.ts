import * as z from 'zod';
import {
  backupReadParams,
  backupReadResult,
  backupRemoveParams,
  backupRemoveResult,
  backupTakeParams,
  backupTakeResult,
} from './backups.ts';
import { TERMINAL_REFUSALS, terminalCloseParams, terminalCloseResult, terminalOpenParams, terminalOpenResult } from './terminals.ts';
import { MAX_NAME_CHARS, MAX_RETURN_CHARS } from '../limits.ts';
import {
  channelToken,
  channelUrl,
  errorText,
  forwardId,
  hardwareId,
  remainingMs,
  requestId,
  routerName,
  routerText,
  text,
} from './common.ts';

/**
 * Requests of the server and the agent's replies. A reply may be preceded by any number of `rows`.
 * After `remaining_ms` the asking side stops waiting: what happened is then unknown.
 */

export const commandParams = z.object({
  router: routerName,
  hardware_id: hardwareId,
  /** API path with the command: `/ip/address/print`. */
  path: text(1024),
  words: z.array(text(65_536)).max(1000),
});

export const forwardOpenParams = z.object({
  router: routerName,
  hardware_id: hardwareId,
  forward_id: forwardId,
  dst_address: text(255),
  dst_port: z.int().min(1).max(65_535),
  /** The agent closes the forward after this time even without contact with the server. */
  expires_in_ms: remainingMs,
  /** Bearer token for dialling the forward's channels. */
  channel_token: channelToken,
  channel_url: channelUrl.optional(),
  warm_channels: z.int().min(0).max(64),
  max_channels: z.int().min(1).max(1024),
});

export const forwardCloseParams = z.object({ forward_id: forwardId });

export const request = z.discriminatedUnion('method', [
  z.object({ type: z.literal('request'), id: requestId, remaining_ms: remainingMs, method: z.literal('command'), params: commandParams }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('forward.open'),
    params: forwardOpenParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('forward.close'),
    params: forwardCloseParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('backup.take'),
    params: backupTakeParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('backup.read'),
    params: backupReadParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('backup.remove'),
    params: backupRemoveParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('terminal.open'),
    params: terminalOpenParams,
  }),
  z.object({
    type: z.literal('request'),
    id: requestId,
    remaining_ms: remainingMs,
    method: z.literal('terminal.close'),
    params: terminalCloseParams,
  }),
]);

const MAX_ROWS = 10_000;

/**
 * Hand-written, because it stops at the first error and copies nothing. Zod collects all errors: for one message with 100,000 invalid
 * values that took 0.7 s.
 */
function areRows(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_ROWS && value.every(isRow);
}

function isRow(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) {
    if (key.length > MAX_NAME_CHARS || typeof (value as Record<string, unknown>)[key] !== 'string') return false;
  }
  return true;
}

/** Server: it no longer needs the answer (its HTTP client disconnected). */
export const cancel = z.object({ type: z.literal('cancel'), id: requestId });

/** A batch of a long reply. */
export const rows = z.object({
  type: z.literal('rows'),
  id: requestId,
  rows: z.custom<Record<string, string>[]>(areRows, 'expected at most 10,000 objects with string values'),
});

export const replyErrorCode = z.enum([
  'rejected',
  'router_unreachable',
  'outcome_unknown',
  'not_allowed',
  'invalid',
  'unsupported',
  'wrong_router',
  'internal',
]);

export const replyError = z.object({
  code: replyErrorCode,
  message: errorText(4096),
  /** RouterOS trap category 0-7. */
  category: z.int().min(0).max(7).optional(),
  /** Of a terminal: why it cannot be opened, for programs. */
  reason: z.enum(TERMINAL_REFUSALS).optional().catch(undefined),
});

export const commandResult = z.object({ method: z.literal('command'), ret: text(MAX_RETURN_CHARS).optional() });
export const forwardOpenResult = z.object({
  method: z.literal('forward.open'),
  way: z.enum(['ssh', 'api', 'direct']),
  /** Why this way, for people. */
  way_reason: routerText(300),
  /** Whether the target's port answered; null: not tried. Never a reason to refuse. */
  target_reachable: z.boolean().nullable(),
  /** Agent and router go by `expires_in_ms` of this request. Older agents omit it: a forward that was open keeps its end on the router. */
  renewed: z.literal(true).optional(),
});
export const forwardCloseResult = z.object({ method: z.literal('forward.close') });

export const reply = z.object({
  type: z.literal('reply'),
  id: requestId,
  outcome: z.discriminatedUnion('ok', [
    z.object({
      ok: z.literal(true),
      result: z.discriminatedUnion('method', [
        commandResult,
        forwardOpenResult,
        forwardCloseResult,
        backupTakeResult,
        backupReadResult,
        backupRemoveResult,
        terminalOpenResult,
        terminalCloseResult,
      ]),
    }),
    z.object({ ok: z.literal(false), error: replyError }),
  ]),
});
