import * as z from 'zod';
import { MAX_OPEN_JOBS_PER_AGENT, MAX_ROUTERS_PER_AGENT } from '../limits.ts';
import { timeZoneFact, uptimeFact } from '../../routeros-text/router-text.ts';
import { hardwareId, routerList, routerName, routerText, text } from './common.ts';
import { openJob } from './jobs.ts';

/** Agent, first message: which protocol versions it speaks and which memory of jobs it has. */
export const hello = z.object({
  type: z.literal('hello'),
  versions: z.array(z.int().min(1).max(1000)).min(1).max(16),
  agent_version: routerText(64),
  journal_id: z.uuid(),
  /** The newest epoch this journal has seen, 0 for none. Lower than the server's memory means a restored disk. */
  last_epoch: z.int().min(0),
  routers: routerList(routerName, MAX_ROUTERS_PER_AGENT),
});

/** Server: the connection's epoch. Every conclusion the server draws later is valid for this epoch only. */
export const welcome = z.object({
  type: z.literal('welcome'),
  version: z.int().min(1),
  agent_id: z.uuid(),
  epoch: z.int().min(1),
  /** True when the agent's memory cannot be trusted: it starts a fresh journal under a new id before `ready`. */
  reset: z.boolean(),
  settings: z.object({
    heartbeat_ms: z.int().min(100).max(3_600_000),
    /** The agent closes the tunnel when nothing at all came for this long. */
    silence_ms: z.int().min(200).max(3_600_000),
  }),
});

/** Agent, after it has the epoch on disk: all jobs it still answers for. */
export const ready = z.object({
  type: z.literal('ready'),
  epoch: z.int().min(1),
  journal_id: z.uuid(),
  jobs: z.array(openJob).max(MAX_OPEN_JOBS_PER_AGENT),
});

/** Seconds since a router's boot, in whole ones as databases keep them. Null: it does not tell, or nothing that can be. */
const uptimeSeconds = z
  .number()
  .transform((seconds) => uptimeFact(Math.floor(seconds)) ?? null)
  .nullable()
  .catch(null);

export const routerHeartbeat = z.object({
  name: routerName,
  reachable: z.boolean(),
  /** Going back means a reboot. */
  uptime_seconds: uptimeSeconds,
  /** Why it is not reachable, for people. */
  reason: routerText(300).nullable(),
});

/** Agent, every `heartbeat_ms` and at once when a router's reachability changes (then with that router only). */
export const heartbeat = z.object({ type: z.literal('heartbeat'), routers: routerList(routerHeartbeat, MAX_ROUTERS_PER_AGENT) });

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
});

/** Agent, after `ready` and whenever it changes: who the router behind a name is. */
export const inventory = z.object({
  type: z.literal('inventory'),
  router: routerName,
  /** Where the agent reaches it, for people who look for one of two entries. Absent: the agent is older. */
  host: routerText(255).optional(),
  facts: routerFacts,
});

/**
 * Server: the router behind this name belongs to another agent of the team. Nothing is asked of it here until the move is
 * approved, or the other agent is revoked or away. Repeated with every inventory of it.
 */
export const routerWaiting = z.object({
  type: z.literal('router.waiting'),
  router: routerName,
  hardware_id: hardwareId,
  reason: text(300),
});

/** Either side: this connection will be closed on purpose; dial again after the pause. */
export const goaway = z.object({
  type: z.literal('goaway'),
  reason: z.enum(['restart', 'replaced', 'revoked', 'protocol']),
  reconnect_after_ms: z.int().min(0).max(600_000),
});
