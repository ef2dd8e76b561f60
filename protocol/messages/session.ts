import * as z from 'zod';
import { MAX_OPEN_JOBS_PER_AGENT, MAX_ROUTERS_PER_AGENT } from '../limits.ts';
import { timeZoneFact, uptimeFact } from '../../routeros-text/router-text.ts';
import { hardwareId, routerList, routerName, routerText, text } from './common.ts';
import { openJob } from './jobs.ts';
import { TERMINAL_LEVELS } from './terminals.ts';

/** Agent, first message: its protocol versions and its job journal. */
export const hello = z.object({
  type: z.literal('hello'),
  versions: z.array(z.int().min(1).max(1000)).min(1).max(16),
  agent_version: routerText(64),
  journal_id: z.uuid(),
  /** The newest epoch in this journal, 0 for none. Lower than the server's confirmed epoch: the disk was restored. */
  last_epoch: z.int().min(0),
  routers: routerList(routerName, MAX_ROUTERS_PER_AGENT),
});

/** Server: the connection's epoch. Every later conclusion of the server is valid for this epoch only. */
export const welcome = z.object({
  type: z.literal('welcome'),
  version: z.int().min(1),
  agent_id: z.uuid(),
  epoch: z.int().min(1),
  /** True when the agent's journal cannot be trusted: it starts a new journal with a new id before `ready`. */
  reset: z.boolean(),
  settings: z.object({
    heartbeat_ms: z.int().min(100).max(3_600_000),
    /** The agent closes the tunnel after this long without a received byte. */
    silence_ms: z.int().min(200).max(3_600_000),
    /**
     * When this tunnel breaks without a goaway, the first dial comes after a random time up to this. Absent: the agent's own pause is
     * enough, or the server is older.
     */
    reconnect_spread_ms: z.int().min(0).max(600_000).optional(),
  }),
});

/** Agent, once the epoch is on its disk: all jobs in its journal. */
export const ready = z.object({
  type: z.literal('ready'),
  epoch: z.int().min(1),
  journal_id: z.uuid(),
  jobs: z.array(openJob).max(MAX_OPEN_JOBS_PER_AGENT),
});

/** A year. Longer silences are not believed: the clock that measures them does not run for so long. */
const MAX_SILENT_MS = 366 * 24 * 3_600_000;

/** Whole seconds since a router's boot. Null: the router does not report it, or the value is impossible. */
const uptimeSeconds = z
  .number()
  .transform((seconds) => uptimeFact(Math.floor(seconds)) ?? null)
  .nullable()
  .catch(null);

/**
 * Why a router does not answer its agent, as a code. Codes may be added; treat an unknown one as `unknown`.
 * `starting`: the agent has not tried it yet.
 */
export const ROUTER_REASONS = [
  'starting',
  'refused',
  'ssh_refused',
  'timeout',
  'no_route',
  'name_unknown',
  'login_refused',
  'tls',
  'host_key',
  'closed',
  'credentials',
  'unknown',
] as const;

export const routerHeartbeat = z.object({
  name: routerName,
  reachable: z.boolean(),
  /** A decrease means a reboot. */
  uptime_seconds: uptimeSeconds,
  /** Why it is not reachable, as text for people. */
  reason: routerText(300).nullable(),
  /** The reason as a code, for programs. Absent: the router is reachable, or the agent is older. */
  reason_code: z.enum(ROUTER_REASONS).optional().catch('unknown'),
  /**
   * Of one that is not reachable: how long ago it answered last, milliseconds. Absent: it refused or broke the connection, so the change was
   * noticed when it happened; or it never answered this agent, or the agent is older.
   */
  silent_ms: z.number().min(0).max(MAX_SILENT_MS).transform(Math.round).optional().catch(undefined),
});

/** Agent: every `heartbeat_ms`, and at once when the reachability of a router changes (then with that router only). */
export const heartbeat = z.object({ type: z.literal('heartbeat'), routers: routerList(routerHeartbeat, MAX_ROUTERS_PER_AGENT) });

/** Limits of a list in which later agents may name further levels. */
const MAX_LEVELS = 16;
const MAX_LEVEL_CHARS = 32;

export const routerFacts = z.object({
  hardware_id: routerText(128).pipe(hardwareId),
  serial_number: routerText(128).nullable(),
  software_id: routerText(128).nullable(),
  identity: routerText(255),
  software_version: routerText(64),
  model: routerText(128).nullable(),
  board_name: routerText(128),
  hardware_board: z.boolean(),
  architecture: routerText(64).nullable(),
  time_zone: z
    .string()
    .nullable()
    .transform((name) => (name === null ? null : (timeZoneFact(name) ?? null))),
  uptime: routerText(64),
  uptime_seconds: uptimeSeconds,
  /** Levels of terminals that the agent's configuration allows on it. Absent: the agent is older. Levels may be added. */
  terminal_levels: z
    .array(z.string().max(MAX_LEVEL_CHARS))
    .max(MAX_LEVELS)
    .transform((levels) => TERMINAL_LEVELS.filter((level) => levels.includes(level)))
    .optional(),
});

/** Agent, after `ready` and on every change: the identity of the router behind a name. */
export const inventory = z.object({
  type: z.literal('inventory'),
  router: routerName,
  /** Address at which the agent reaches it, for people. Absent: the agent is older. */
  host: routerText(255).optional(),
  facts: routerFacts,
});

/**
 * Server: the router behind this name belongs to another agent of the team. This agent gets no requests for it until the move is
 * approved, or the other agent is revoked or unreachable. Repeated after every inventory of it.
 */
export const routerWaiting = z.object({
  type: z.literal('router.waiting'),
  router: routerName,
  hardware_id: hardwareId,
  reason: text(300),
});

/** Either side: this connection is about to be closed on purpose; dial again after the pause. */
export const goaway = z.object({
  type: z.literal('goaway'),
  reason: z.enum(['restart', 'replaced', 'revoked', 'protocol']),
  reconnect_after_ms: z.int().min(0).max(600_000),
});
