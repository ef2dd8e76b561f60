import { z } from 'zod';

/** What control planes say to each other about forwards. */

/** Questions to the home of forwards. */
export const homeOf = (nodeId: string): string => `signalbox.node.${nodeId}.forwards`;
/** How many connections another control plane carries. */
export const countsOf = (nodeId: string): string => `signalbox.node.${nodeId}.forward_counts`;
/** A record has changed: whoever carries connections of this forward reads it. */
export const CHANGED = 'signalbox.forwards.changed';
/** An agent has a new tunnel at the sender. */
export const AGENT_READY = 'signalbox.forwards.agent_ready';
/** An agent was revoked or replaced. */
export const AGENT_DROPPED = 'signalbox.forwards.agent_dropped';

const forward = { team_id: z.string(), id: z.string() };

export const question = z.discriminatedUnion('ask', [
  z.object({
    ask: z.literal('create'),
    team_id: z.string(),
    router_id: z.string(),
    maker: z.object({ id: z.string(), clientId: z.string().optional(), idempotencyKey: z.string().optional() }),
    request: z.object({
      expireAfterMinutes: z.number(),
      dstPort: z.number(),
      dstAddress: z.string(),
      allowFrom: z.string(),
      idleSeconds: z.number().nullable().optional(),
      maxConnections: z.number().optional(),
    }),
  }),
  /** The record has changed: the home acts before it answers. */
  z.object({ ask: z.literal('changed'), ...forward }),
  /** One more client. `open`: how many the asker then has, this one and those that it still asks for included. */
  z.object({ ask: z.literal('enter'), ...forward, node_id: z.string(), open: z.int().min(1) }),
  /** The agent has lost the way. */
  z.object({ ask: z.literal('lost'), ...forward, agent_id: z.string(), reason: z.string() }),
  /** What whoever is asked carries of these. */
  z.object({ ask: z.literal('carried'), ids: z.array(z.string()) }),
]);
export type Question = z.infer<typeof question>;

export const created = z.object({ id: z.string() });
/** `elsewhere`: whoever was asked is not the home. `spare`: how many places may be kept for a moment when their clients have gone. */
export const entered = z.object({ answer: z.enum(['welcome', 'full', 'ended', 'elsewhere']), spare: z.int().min(0).default(0) });
export type Entered = z.infer<typeof entered>;

/** Without those of which it carries nothing. */
export const carriedAnswer = z.object({
  carried: z.array(
    z.object({ id: z.string(), open: z.int(), connections: z.int(), bytesIn: z.int(), bytesOut: z.int(), refused: z.int() }),
  ),
});

export const changedHint = z.object(forward);
export const readyHint = z.object({ team_id: z.string(), agent_id: z.string(), epoch: z.number() });
export const droppedHint = z.object({ team_id: z.string(), agent_id: z.string(), why: z.string() });
const counts = z.array(z.tuple([z.string(), z.int().min(0)]));
/** `open`: connections. `kept`: places that the sender may fill without asking, connections included, where these are more. */
export const countsHint = z.object({ node_id: z.string(), open: counts, kept: counts.default([]) });
