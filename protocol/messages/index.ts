import type * as z from 'zod';
import type { backupPart } from './backups.ts';
import { devices, seenDevice } from './devices.ts';
import { channelDial, forwardLost } from './forwards.ts';
import { health, healthReadings } from './health.ts';
import * as jobs from './jobs.ts';
import { cancel, reply, replyError, replyErrorCode, request, rows } from './requests.ts';
import { terminalEnded, terminalResize } from './terminals.ts';
import type { SHELL_ENDS, TERMINAL_LEVELS, TERMINAL_REFUSALS } from './terminals.ts';
import { goaway, heartbeat, hello, inventory, ready, routerHeartbeat, routerFacts, routerWaiting, welcome } from './session.ts';

/** Messages of the server: schema by message type, because a table lookup is faster than a union. */
export const serverMessages = {
  welcome,
  goaway,
  request,
  cancel,
  'job.offer': jobs.jobOffer,
  'job.go': jobs.jobGo,
  'job.ack': jobs.jobAck,
  'job.revoke': jobs.jobRevoke,
  'channel.dial': channelDial,
  'router.waiting': routerWaiting,
  'terminal.resize': terminalResize,
} as const;

/** Messages of the agent. */
export const agentMessages = {
  hello,
  ready,
  heartbeat,
  inventory,
  goaway,
  rows,
  reply,
  'job.accepted': jobs.jobAccepted,
  'job.declined': jobs.jobDeclined,
  'job.began': jobs.jobBegan,
  'job.ended': jobs.jobEnded,
  'job.refused': jobs.jobRefused,
  'job.guard': jobs.jobGuard,
  'forward.lost': forwardLost,
  'terminal.ended': terminalEnded,
  health,
  devices,
} as const;

export type ServerMessage = z.infer<(typeof serverMessages)[keyof typeof serverMessages]>;
export type AgentMessage = z.infer<(typeof agentMessages)[keyof typeof agentMessages]>;

export type Hello = z.infer<typeof hello>;
export type Welcome = z.infer<typeof welcome>;
export type Ready = z.infer<typeof ready>;
export type Heartbeat = z.infer<typeof heartbeat>;
export type RouterReason = NonNullable<RouterHeartbeat['reason_code']>;
export type RouterHeartbeat = z.infer<typeof routerHeartbeat>;
export type Inventory = z.infer<typeof inventory>;
export type RouterFactsMessage = z.infer<typeof routerFacts>;
export type Request = z.infer<typeof request>;
export type Reply = z.infer<typeof reply>;
export type ReplyOutcome = Reply['outcome'];
export type ReplyError = z.infer<typeof replyError>;
export type ReplyErrorCode = z.infer<typeof replyErrorCode>;
export type JobOffer = z.infer<typeof jobs.jobOffer>;
export type JobResult = z.infer<typeof jobs.jobResult>;
export type JobReason = z.infer<typeof jobs.jobReason>;
export type OpenJob = z.infer<typeof jobs.openJob>;
export type JobGuard = z.infer<typeof jobs.jobGuard>;
export type JobDeclined = z.infer<typeof jobs.jobDeclined>;
export type Health = z.infer<typeof health>;
export type HealthReadings = z.infer<typeof healthReadings>;
export type BackupPart = z.infer<typeof backupPart>;
export type Devices = z.infer<typeof devices>;
export type TerminalLevel = (typeof TERMINAL_LEVELS)[number];
export type TerminalRefusal = (typeof TERMINAL_REFUSALS)[number];
export type ShellEnd = (typeof SHELL_ENDS)[number];
export type TerminalEnded = z.infer<typeof terminalEnded>;
export type SeenDevice = z.infer<typeof seenDevice>;

export { ROUTER_REASONS } from './session.ts';
export { SHELL_ENDS, TERMINAL_LEVELS, TERMINAL_REFUSALS, terminalSize } from './terminals.ts';
/** For the agent's journal, which keeps results on disk. */
export { jobResult } from './jobs.ts';
