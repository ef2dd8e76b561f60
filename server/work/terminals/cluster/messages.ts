import { z } from 'zod';
import { TERMINAL_ENDS } from '../types.ts';

/** What control planes say to each other about terminals. */

/** Questions to the home of terminals. */
export const homeOf = (nodeId: string): string => `signalbox.node.${nodeId}.terminals`;
/** An agent has a new tunnel at the sender. */
export const AGENT_READY = 'signalbox.terminals.agent_ready';

const actor = z.object({ kind: z.enum(['api_key', 'user']), id: z.string(), source: z.string() });

export const question = z.discriminatedUnion('ask', [
  /** Another ticket for its opener. */
  z.object({ ask: z.literal('ticket'), id: z.string() }),
  /** Redeems a ticket, and gives the terminal to the asker. */
  z.object({ ask: z.literal('release'), id: z.string(), router_id: z.string(), ticket: z.string(), node_id: z.string() }),
  /** The record has changed: the home acts before it answers. `by`: who ended it, for the audit log. */
  z.object({ ask: z.literal('changed'), id: z.string(), by: actor.optional() }),
  /** Its agent says that the shell is over. */
  z.object({ ask: z.literal('shell_ended'), id: z.string(), agent_id: z.string(), reason: z.enum(TERMINAL_ENDS), message: z.string() }),
  z.object({ ask: z.literal('states'), ids: z.array(z.string()) }),
]);
export type Question = z.infer<typeof question>;

/** Null: whoever was asked is not the home. */
export const ticketAnswer = z.object({ ticket: z.string(), validMs: z.number(), attached: z.boolean(), away: z.boolean() }).nullable();
/** `total`: how much output a client has seen at most. Null: whoever was asked is not the home. */
export const releaseAnswer = z.object({ total: z.number(), cols: z.number(), rows: z.number() }).nullable();
export const statesAnswer = z.array(z.object({ id: z.string(), attached: z.boolean(), away: z.boolean() }));

export const readyHint = z.object({ agent_id: z.string() });
