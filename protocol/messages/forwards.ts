import * as z from 'zod';
import { forwardId, routerText } from './common.ts';

/** Server: dial `count` more channels for this forward. */
export const channelDial = z.object({ type: z.literal('channel.dial'), forward_id: forwardId, count: z.int().min(1).max(256) });

/** Agent: the way to the target is lost, could not be restored and is closed. The server reports it and asks for another. */
export const forwardLost = z.object({ type: z.literal('forward.lost'), forward_id: forwardId, reason: routerText(300) });
