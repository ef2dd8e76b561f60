import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { App } from '../../platform/http/app.ts';
import { nameServerResolver } from '../../platform/outgoing/lookup.ts';
import { Poster } from '../../platform/outgoing/poster.ts';
import { campaignOfKey } from '../../work/campaigns/service.ts';
import type { WebhooksService } from '../webhooks/service.ts';
import { smsCallbackUrl } from './callbacks/address.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import type { CallbackDeps } from './callbacks/routes.ts';
import { ProviderCallbacks } from './callbacks/service.ts';
import { createChannels } from './channels/create.ts';
import { offeredChannels } from './channels/offer.ts';
import { channelRoutes } from './channels/routes.ts';
import type { ChannelRoutesDeps } from './channels/routes.ts';
import { GroupAddresses } from './contacts/addresses.ts';
import { contactRoutes } from './contacts/routes.ts';
import type { ContactRoutesDeps } from './contacts/routes.ts';
import { ContactsService } from './contacts/service.ts';
import { settingsRoutes } from './contacts/settings/routes.ts';
import { explainRoutes } from './explain/routes.ts';
import type { ExplainRoutesDeps } from './explain/routes.ts';
import { Explainer } from './explain/service.ts';
import { groupRoutes } from './groups/routes.ts';
import type { GroupRoutesDeps } from './groups/routes.ts';
import { GroupsService } from './groups/service.ts';
import { Heartbeat } from './heartbeat/heartbeat.ts';
import { AcknowledgeVisits } from './leaving/acknowledging.ts';
import type { AuditLine } from './leaving/acknowledging.ts';
import { MessageLinks } from './leaving/links.ts';
import { messageLinkRoutes } from './leaving/routes.ts';
import type { MessageLinkDeps } from './leaving/routes.ts';
import { MessageVisits } from './leaving/service.ts';
import { EmailChannel } from './channels/email/channel.ts';
import type { SmtpSettings } from './channels/email/channel.ts';
import { VapidKeyring } from './channels/web-push/keyring.ts';
import { logRoutes } from './log/messages/routes.ts';
import type { LogRoutesDeps } from './log/messages/routes.ts';
import { DeliveryLog } from './log/service.ts';
import { threadRoutes } from './log/threads/routes.ts';
import { ProvedAddresses } from './messages/addresses.ts';
import { MessagesService } from './messages/service.ts';
import { Notifier } from './notifier.ts';
import type { Sources } from './notifier.ts';
import { AddressProofs } from './proofs/service.ts';
import { NotificationRetention } from './retention/service.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import type { ScheduleRoutesDeps } from './schedules/routes.ts';
import { SchedulesService } from './schedules/service.ts';
import { silenceRoutes } from './silences/routes.ts';
import type { SilenceRoutesDeps } from './silences/routes.ts';
import { SilencesService } from './silences/service.ts';
import { targetRoutes } from './targets/routes.ts';
import type { TargetRoutesDeps } from './targets/routes.ts';
import { TargetsService } from './targets/service.ts';
import { acknowledgeRoutes } from './threads/acknowledging/routes.ts';
import type { AcknowledgeRoutesDeps } from './threads/acknowledging/routes.ts';
import { testRoutes } from './test-messages/routes.ts';
import type { TestRoutesDeps } from './test-messages/routes.ts';
import { TestMessages } from './test-messages/service.ts';
import { createTelegram } from './telegram/create.ts';
import { telegramRoutes } from './telegram/routes.ts';
import type { TelegramRoutesDeps } from './telegram/routes.ts';
import { ThreadsService } from './threads/service.ts';
import { topicRoutes } from './topics/routes.ts';
import type { TopicRoutesDeps } from './topics/routes.ts';
import { TopicsService } from './topics/service.ts';

export { LONGEST_WAIT_MS as LONGEST_MESSAGE_WAIT_MS } from './messages/schedule.ts';
export { LONGEST_WAIT_MS as LONGEST_THREAD_WAIT_MS } from './threads/timing.ts';

/** A message to a provider, with its answer. */
const SEND_WITHIN_MS = 15_000;

interface Needs extends Pick<Platform, 'config' | 'storage' | 'secrets' | 'clock' | 'log'>, Sources {
  webhooks: WebhooksService;
  audit: { record: (entry: AuditLine) => void };
}

/** Whom the operator of a push service may ask (RFC 8292, section 2.1): an address of ours, by mail or https. */
function subjectOf(publicUrl: string, smtp: SmtpSettings | null): string {
  if (smtp !== null) return `mailto:${smtp.from.address}`;
  // Browsers subscribe on http only from localhost: nobody else could be asked there.
  return publicUrl.startsWith('https:') ? publicUrl : 'mailto:signalbox@localhost';
}

/** Who is notified about what, and when. */
export const notifications = feature({
  create: ({ config, storage, secrets, clock, log, webhooks, audit, ...sources }: Needs) => {
    const { publicUrl } = config;
    const rules = { allowLoopback: config.allowLoopbackWebhooks, privateNetworks: config.notifyPrivate };
    const poster = new Poster({ rules, resolve: nameServerResolver(), deadlineMs: SEND_WITHIN_MS });
    // Every member names the push service of a browser. Those are public, so the operator's networks stay closed to them.
    const pushPoster = new Poster({ rules: { ...rules, privateNetworks: [] }, resolve: nameServerResolver(), deadlineMs: SEND_WITHIN_MS });
    const pushKeys = new VapidKeyring({ storage, clock, secrets });
    const webPush = { poster: pushPoster, vapid: () => pushKeys.load(), subject: subjectOf(publicUrl, config.smtp) };
    const smsCallback = smsCallbackUrl(publicUrl, { allowLoopback: config.allowLoopbackWebhooks });
    const channels = createChannels({ poster, now: () => clock.now(), accounts: config.channels, smtp: config.smtp, smsCallback, webPush });
    const proofs = new AddressProofs({ storage, clock, secrets });
    const signing = (teamId: string) => webhooks.signingSecrets(teamId);
    const targets = new TargetsService({ storage, clock, secrets, proofs, channels, rules, signing, publicUrl });
    const contacts = new ContactsService({ storage, clock, secrets, proofs, channels, rules, publicUrl });
    const messageLinks = new MessageLinks({ secrets, publicUrl });
    const groupAddresses = new GroupAddresses({ storage, contacts, targets });
    const own = { storage, clock, log: log.child({ component: 'notifications' }) };
    const telegram = createTelegram({ ...own, secrets, contacts, rules, poster, account: config.channels.telegram, audit });
    const close = async (): Promise<void> => {
      if (channels.email instanceof EmailChannel) channels.email.close();
      await Promise.all([poster.close(), pushPoster.close()]);
    };
    const messages = new MessagesService({
      ...own,
      addresses: new ProvedAddresses(groupAddresses, messageLinks),
      channels,
      links: messageLinks,
      publicUrl,
    });
    const threads = new ThreadsService({
      ...own,
      // Two heartbeats: the first one may have been on its way.
      rules: { afterAgentMs: 2 * config.heartbeatMs },
      campaignOf: campaignOfKey,
      writeMessages: (...written) => messages.write(...written),
      digests: messages.digests,
      onMessages: () => messages.wake(),
    });
    const groups = new GroupsService({ storage, clock });
    const deliveryLog = new DeliveryLog({ storage, clock, contacts, publicUrl });
    return {
      groups,
      topics: new TopicsService({ storage, clock }),
      schedules: new SchedulesService({ storage, clock }),
      targets,
      contacts,
      notificationChannels: { all: offeredChannels(channels), mayBePrivate: rules.allowLoopback || rules.privateNetworks.length > 0 },
      pushKeys,
      groupAddresses,
      messageLinks,
      messageVisits: new MessageVisits({ contacts, links: messageLinks }),
      acknowledgeVisits: new AcknowledgeVisits({ clock, links: messageLinks, contacts, targets, threads, messages, audit }),
      providerCallbacks: new ProviderCallbacks({ accounts: config.channels, messages, publicUrl }),
      addressProofs: proofs,
      telegram,
      telegramLinks: telegram.links,
      deliveryLog,
      explainer: new Explainer({ storage, clock, messages }),
      testMessages: new TestMessages({ storage, clock, groups, messages, log: deliveryLog }),
      silences: new SilencesService({ storage, clock, keepMs: config.keepNotificationsMs, onEnd: () => threads.wake() }),
      threads,
      messages,
      heartbeat:
        config.heartbeatUrl === null
          ? undefined
          : new Heartbeat({ ...own, poster, url: config.heartbeatUrl, looks: () => [threads.lookedAt, messages.lookedAt] }),
      notifier: new Notifier({ threads, messages, sources, close }),
      notificationRetention: new NotificationRetention({ storage, clock, keepMs: config.keepNotificationsMs }),
    };
  },
  start: (own) => {
    own.notifier.start();
    own.telegram.reader?.wake();
    own.heartbeat?.start();
  },
  stop: async (own) => {
    await own.heartbeat?.stop();
    await own.telegram.stop();
    await own.notifier.stop();
  },
  measures: ({ notifier: { messages }, telegram: { reader } }) => ({
    shares: { notification_attempts: messages.attempts },
    gauges: [
      {
        name: 'signalbox_notifications_oldest_due_seconds',
        help: 'How long the message that is due the longest has waited; 0 when none is due',
        read: () => messages.oldestDueSeconds(),
      },
    ],
    counts: [
      {
        name: 'signalbox_notifications_total',
        help: 'Messages that were due, by channel and by what became of them; retry comes again',
        labels: ['channel', 'outcome'],
        read: () => messages.outcomes.read(),
      },
      ...(reader
        ? [
            {
              name: 'signalbox_telegram_reads_total',
              help: 'Requests for what people write to the Telegram bot, made while somebody proves a chat, by how they ended',
              labels: ['outcome'],
              read: () => reader.outcomes.read(),
            },
          ]
        : []),
    ],
  }),
  sweep: async (own, signal) => {
    await own.notificationRetention.sweep(signal);
    await own.addressProofs.sweep(signal);
    await own.telegramLinks.sweep(signal);
    await own.silences.sweep(signal);
  },
  routes: (
    scope,
    services: GroupRoutesDeps &
      TopicRoutesDeps &
      ScheduleRoutesDeps &
      TargetRoutesDeps &
      ContactRoutesDeps &
      ChannelRoutesDeps &
      TelegramRoutesDeps &
      SilenceRoutesDeps &
      LogRoutesDeps &
      TestRoutesDeps &
      ExplainRoutesDeps &
      AcknowledgeRoutesDeps,
  ) => {
    groupRoutes(scope, services);
    topicRoutes(scope, services);
    scheduleRoutes(scope, services);
    targetRoutes(scope, services);
    contactRoutes(scope, services);
    channelRoutes(scope, services);
    settingsRoutes(scope, services);
    telegramRoutes(scope, services);
    silenceRoutes(scope, services);
    threadRoutes(scope, services);
    logRoutes(scope, services);
    testRoutes(scope, services);
    explainRoutes(scope, services);
    acknowledgeRoutes(scope, services);
  },
  openRoutes: async (app, services: MessageLinkDeps & CallbackDeps) => {
    // Each with its own limits and its own readers of bodies.
    await app.register(async (scope) => messageLinkRoutes(scope as App, services));
    await app.register(async (scope) => callbackRoutes(scope as App, services));
  },
});
