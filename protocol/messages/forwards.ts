import * as z from 'zod';
import { channelToken, channelUrl, forwardId, routerText } from './common.ts';

/**
 * Server: dial `count` more channels for this forward. With `channel_url` and `channel_token` they go to that control plane, of several, and
 * not to the one of `forward.open`.
 */
export const channelDial = z.object({
  type: z.literal('channel.dial'),
  forward_id: forwardId,
  count: z.int().min(1).max(256),
  channel_url: channelUrl.optional(),
  channel_token: channelToken.optional(),
});

/** Agent: the way to the target is lost, could not be restored and is closed. The server reports it and asks for another. */
export const forwardLost = z.object({ type: z.literal('forward.lost'), forward_id: forwardId, reason: routerText(300) });
