import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import { CHANNEL_NAMES } from './offer.ts';
import type { OfferedChannel } from './offer.ts';

const channelSchema = z
  .object({
    channel: z.enum(CHANNEL_NAMES),
    configured: z
      .boolean()
      .describe('Whether this control plane can send by it. Web push also needs https, or a browser on the same machine'),
    settings: z.array(z.string()).describe('What its operator sets for it (docs/settings.md); empty: it needs no account of the operator'),
  })
  .meta({ id: 'NotificationChannel' });

const channelsSchema = z
  .object({
    channels: z.array(channelSchema),
    private_networks: z
      .boolean()
      .describe(
        'Whether webhooks, ntfy and Gotify may be in some private network, by http or https. The operator names the networks in ' +
          '`SIGNALBOX_NOTIFY_PRIVATE`. Everywhere else only https and public addresses are allowed',
      ),
  })
  .meta({
    id: 'NotificationChannels',
    examples: [
      {
        channels: [
          { channel: 'email', configured: false, settings: ['SIGNALBOX_SMTP_URL', 'SIGNALBOX_MAIL_FROM'] },
          { channel: 'webhook', configured: true, settings: [] },
        ],
        private_networks: false,
      },
    ],
  });

export interface ChannelRoutesDeps {
  notificationChannels: { all: readonly OfferedChannel[]; mayBePrivate: boolean };
}

/** By which channels this control plane can send at all: settings of the operator, the same for every team. */
export function channelRoutes(app: App, { notificationChannels: { all, mayBePrivate } }: ChannelRoutesDeps): void {
  app.get(
    '/api/notification-channels',
    {
      schema: {
        tags: ['notifications'],
        operationId: 'listNotificationChannels',
        summary: 'Read by which channels this control plane can send',
        response: { 200: envelope(channelsSchema), ...commonErrors },
      },
    },
    () =>
      success({
        channels: all.map(({ channel, isConfigured, settings }) => ({ channel, configured: isConfigured, settings: [...settings] })),
        private_networks: mayBePrivate,
      }),
  );
}
