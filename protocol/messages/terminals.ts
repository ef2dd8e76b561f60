import * as z from 'zod';
import { channelToken, channelUrl, hardwareId, remainingMs, routerName, routerText } from './common.ts';

/** A terminal: a shell of a router, which its agent opens over SSH and carries over a channel. */
export const terminalId = z.uuid();

export const TERMINAL_LEVELS = ['read', 'full'] as const;

/** Columns and rows of a window. The largest screens have about 400 columns in a small font. */
const columns = z.int().min(2).max(500);
const lines = z.int().min(2).max(300);
export const terminalSize = { cols: columns, rows: lines };

export const terminalOpenParams = z.object({
  router: routerName,
  hardware_id: hardwareId,
  terminal_id: terminalId,
  level: z.enum(TERMINAL_LEVELS),
  /** Bearer token for dialling its channel. */
  channel_token: channelToken,
  channel_url: channelUrl.optional(),
  ...terminalSize,
  /** True: only continue a shell that the agent has. It must not open another one. */
  resume: z.boolean(),
  /** First byte of the shell's output that is wanted, counted from 0. */
  from: z.int().min(0),
  /** The agent ends the shell after this time at the latest. */
  expires_in_ms: remainingMs,
  /** The agent ends the shell after this time without input. */
  idle_ms: remainingMs,
  /** The agent keeps the shell for this time without a channel. */
  keep_ms: remainingMs,
});

export const terminalOpenResult = z.object({
  method: z.literal('terminal.open'),
  /** First byte of output that the channel will carry: later than asked for when the agent no longer has the earlier ones. */
  from: z.int().min(0),
});

/** Why an agent opens no shell: `reason` of a reply's error. Reasons may be added. */
export const TERMINAL_REFUSALS = [
  'terminal_off',
  'terminal_level_off',
  'terminal_no_user',
  'terminal_limit',
  'terminal_gone',
  'login_refused',
  'shell_refused',
] as const;

export const terminalCloseParams = z.object({ terminal_id: terminalId });
export const terminalCloseResult = z.object({ method: z.literal('terminal.close') });

/** Server: the window has another size. */
export const terminalResize = z.object({ type: z.literal('terminal.resize'), terminal_id: terminalId, ...terminalSize });

/** Why a shell ended at the agent. */
export const SHELL_ENDS = ['exited', 'router_lost', 'idle', 'expired', 'detached', 'agent_stopped'] as const;

/** Agent: the shell is over. */
export const terminalEnded = z.object({
  type: z.literal('terminal.ended'),
  terminal_id: terminalId,
  /** Reasons may be added. */
  reason: z.enum(SHELL_ENDS).catch('router_lost'),
  message: routerText(300),
});
