import * as z from 'zod';
import { text } from './common.ts';

/** Counts the connections on a channel from 1, without gaps. */
const connectionNumber = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Control plane: the next connection begins; bytes may follow at once. */
export const channelOpen = z.object({ type: z.literal('open'), n: connectionNumber });

/** Either side: connection `n` is over without a proper end, in both directions. */
export const channelReset = z.object({ type: z.literal('reset'), n: connectionNumber, reason: text(200) });

export const channelMessage = z.discriminatedUnion('type', [channelOpen, channelReset]);
export type ChannelMessage = z.infer<typeof channelMessage>;
