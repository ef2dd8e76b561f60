import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { GotifyChannel } from '../../../server/outbound/notifications/channels/gotify.ts';
import type { HttpDeps } from '../../../server/outbound/notifications/channels/http.ts';
import { NtfyChannel } from '../../../server/outbound/notifications/channels/ntfy.ts';
import { PagerdutyChannel } from '../../../server/outbound/notifications/channels/pagerduty.ts';
import { SecretFile } from '../../../server/outbound/notifications/channels/secret-file.ts';
import { SlackChannel } from '../../../server/outbound/notifications/channels/slack.ts';
import { SmsChannel } from '../../../server/outbound/notifications/channels/sms.ts';
import { TeamsChannel } from '../../../server/outbound/notifications/channels/teams.ts';
import { TelegramChannel } from '../../../server/outbound/notifications/channels/telegram.ts';
import type { OutgoingMessage, SendResult } from '../../../server/outbound/notifications/channels/types.ts';
import { WebPushChannel } from '../../../server/outbound/notifications/channels/web-push/channel.ts';
import { newVapidKeys } from '../../../server/outbound/notifications/channels/web-push/vapid.ts';
import { WhatsappChannel } from '../../../server/outbound/notifications/channels/whatsapp.ts';
import {
  checkGotify,
  checkNtfy,
  checkPagerduty,
  checkSlack,
  checkSms,
  checkTeams,
  checkTelegram,
  checkWebPush,
  checkWhatsapp,
  PushReceiver,
} from './providers.ts';
import type { Check, ProviderRequest } from './providers.ts';
import type { ProviderReply } from './stand-in.ts';

/** Every channel over HTTP but our own webhook, with its provider's checks and the answer of a provider that has taken a message. */

export const TOKEN = '123456:AA-secret_token';
export const ROUTING_KEY = 'r0ut1ngk3yr0ut1ngk3yr0ut1ngk3y42';
export const browser = new PushReceiver();
export const vapidKeys = newVapidKeys();

export type ProviderName = 'slack' | 'teams' | 'telegram' | 'pagerduty' | 'ntfy' | 'gotify' | 'sms' | 'whatsapp' | 'web_push';

export interface ProviderCase {
  name: ProviderName;
  check: Check;
  accepted: ProviderReply;
  /** Sends to the provider at this address. */
  send(message: OutgoingMessage, url: string, deps: HttpDeps, signal?: AbortSignal): Promise<SendResult>;
  /** All text that the request shows to a person. */
  shown(request: ProviderRequest): string;
}

const never = new AbortController().signal;
const folder = mkdtempSync(path.join(inject('runFolder'), 'token-'));
writeFileSync(path.join(folder, 'token'), `${TOKEN}\n`);
export const token = new SecretFile(path.join(folder, 'token'));

const json = (request: ProviderRequest): string => JSON.stringify(JSON.parse(request.body.toString()));

export const PROVIDERS: readonly ProviderCase[] = [
  {
    name: 'slack',
    check: checkSlack,
    accepted: { status: 200, body: 'ok' },
    send: (message, url, deps, signal = never) => new SlackChannel(deps).send(message, { url: `${url}/services/T1/B1/s3cr3t` }, signal),
    shown: json,
  },
  {
    name: 'teams',
    check: checkTeams,
    accepted: { status: 202 },
    send: (message, url, deps, signal = never) =>
      new TeamsChannel(deps).send(message, { url: `${url}/workflows/w1/triggers?sig=s3cr3t` }, signal),
    shown: json,
  },
  {
    name: 'telegram',
    check: checkTelegram,
    accepted: { status: 200, body: { ok: true, result: { message_id: 77 } } },
    send: (message, url, deps, signal = never) =>
      new TelegramChannel({ ...deps, token, apiUrl: url }).send(message, { chatId: '-100200' }, signal),
    shown: json,
  },
  {
    name: 'pagerduty',
    check: checkPagerduty,
    accepted: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'k1' } },
    send: (message, url, deps, signal = never) =>
      new PagerdutyChannel({ ...deps, enqueueUrl: `${url}/v2/enqueue` }).send(message, { routingKey: ROUTING_KEY, region: 'us' }, signal),
    shown: json,
  },
  {
    name: 'ntfy',
    check: checkNtfy,
    accepted: { status: 200, body: { id: 'n1', event: 'message' } },
    send: (message, url, deps, signal = never) =>
      new NtfyChannel(deps).send(message, { url, topic: 's3cr3t-topic', token: 'tk_s3cr3t' }, signal),
    shown: json,
  },
  {
    name: 'gotify',
    check: checkGotify,
    accepted: { status: 200, body: { id: 5, appid: 1 } },
    send: (message, url, deps, signal = never) => new GotifyChannel(deps).send(message, { url: `${url}/`, token: 'As3cr3t' }, signal),
    shown: json,
  },
  {
    name: 'sms',
    check: checkSms,
    accepted: { status: 201, body: { sid: 'SM1', status: 'queued' } },
    send: (message, url, deps, signal = never) =>
      new SmsChannel({
        ...deps,
        token,
        settings: { apiUrl: url, accountId: 'AC1', from: '+15550100' },
        statusCallback: 'https://signalbox.example.com/callbacks/sms',
      }).send(message, { to: '+34600000000' }, signal),
    shown: (request) => new URLSearchParams(request.body.toString()).get('Body') ?? '',
  },
  {
    name: 'whatsapp',
    check: checkWhatsapp,
    accepted: { status: 200, body: { messaging_product: 'whatsapp', messages: [{ id: 'wamid.1' }] } },
    send: (message, url, deps, signal = never) =>
      new WhatsappChannel({
        ...deps,
        token,
        settings: { apiUrl: `${url}/v23.0`, phoneNumberId: '106540352242922', template: 'signalbox_notification' },
      }).send(message, { to: '+34600000000' }, signal),
    shown: json,
  },
  {
    name: 'web_push',
    check: checkWebPush,
    accepted: { status: 201 },
    send: (message, url, deps, signal = never) =>
      new WebPushChannel({ ...deps, vapid: () => vapidKeys, subject: 'mailto:alerts@example.com' }).send(
        message,
        { endpoint: `${url}/push/s3cr3t-subscription`, p256dh: browser.p256dh, auth: browser.auth },
        signal,
      ),
    shown: (request) => JSON.stringify(browser.read(request.body)),
  },
];

export const providerCase = (name: ProviderName): ProviderCase => PROVIDERS.find((one) => one.name === name)!;
