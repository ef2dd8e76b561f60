import * as z from 'zod';
import { MAX_ROUTERS_PER_AGENT } from './limits.ts';
import { text } from './messages/common.ts';

/**
 * `GET /agent/v1/unmanaged`: entries of this agent's configuration that the control plane does not manage through it, and why.
 * An agent learns the same on its tunnel (`router.waiting`); this answers a check, which opens no tunnel because that would
 * replace the running agent's.
 */
export const unmanagedResponse = z.object({
  routers: z
    .array(
      z.object({
        /** The router's name in the agent's configuration. */
        name: text(64),
        hardware_id: text(128),
        /** `waiting`, `refused` or `duplicate`; a newer server may have further words. */
        state: text(64),
        /** For people. */
        reason: text(1000),
      }),
    )
    // A claim that waits and a duplicate for each entry.
    .max(2 * MAX_ROUTERS_PER_AGENT),
});

export type UnmanagedResponse = z.infer<typeof unmanagedResponse>;
export type UnmanagedRouter = UnmanagedResponse['routers'][number];
