import * as z from 'zod';
import { MAX_ROUTERS_PER_AGENT } from './limits.ts';
import { text } from './messages/common.ts';

/**
 * `GET /agent/v1/unmanaged`: entries of this agent's configuration that the control plane does not manage through it, and why.
 * A running agent learns the same on its tunnel (`router.waiting`). `signalbox-agent check` uses this request, because a second
 * tunnel would replace that of the running agent.
 */
export const unmanagedResponse = z.object({
  routers: z
    .array(
      z.object({
        /** The router's name in the agent's configuration. */
        name: text(64),
        hardware_id: text(128),
        /** `waiting`, `refused` or `duplicate`; a newer server may add states. */
        state: text(64),
        /** Text for people. */
        reason: text(1000),
      }),
    )
    // A pending move and a duplicate for each entry.
    .max(2 * MAX_ROUTERS_PER_AGENT),
});

export type UnmanagedResponse = z.infer<typeof unmanagedResponse>;
export type UnmanagedRouter = UnmanagedResponse['routers'][number];
