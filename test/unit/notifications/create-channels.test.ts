import { expect, test } from 'vitest';
import { checkConfig } from '../../../server/config.ts';
import { createChannels } from '../../../server/outbound/notifications/channels/create.ts';
import type { ChannelAccounts } from '../../../server/outbound/notifications/channels/create.ts';
import { browser, vapidKeys } from '../../harness/notify/every-channel.ts';
import { agentAway, messageOf } from '../../harness/notify/views.ts';

const poster = { ask: () => Promise.resolve({ outcome: 'stopped' as const }) };
const made = (accounts: ChannelAccounts) => createChannels({ poster, now: Date.now, accounts, smtp: null });
const ACCOUNTS = {
  SIGNALBOX_TELEGRAM_TOKEN_FILE: '/etc/signalbox/telegram',
  SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID: '106540352242922',
  SIGNALBOX_WHATSAPP_TOKEN_FILE: '/etc/signalbox/whatsapp',
  SIGNALBOX_SMS_ACCOUNT: 'AC0123456789',
  SIGNALBOX_SMS_TOKEN_FILE: '/etc/signalbox/sms',
  SIGNALBOX_SMS_FROM: '+15550100123',
};

test('six channels need no account, and each account brings its own', () => {
  expect(Object.keys(made(checkConfig({}).channels))).toEqual(['webhook', 'slack', 'teams', 'pagerduty', 'ntfy', 'gotify']);
  const { channels } = checkConfig(ACCOUNTS);
  expect(channels).toMatchObject({
    telegram: { apiUrl: 'https://api.telegram.org', tokenFile: '/etc/signalbox/telegram' },
    whatsapp: { apiUrl: 'https://graph.facebook.com/v23.0', template: 'signalbox_notification' },
    sms: { apiUrl: 'https://api.twilio.com', accountId: 'AC0123456789', from: '+15550100123' },
  });
  expect(Object.keys(made(channels)).slice(6)).toEqual(['telegram', 'whatsapp', 'sms']);
});

test('what Meta says later is heard with its two secrets only', () => {
  expect(checkConfig(ACCOUNTS).channels.whatsapp).toMatchObject({ callbacks: null });
  const files = { SIGNALBOX_WHATSAPP_APP_SECRET_FILE: '/x', SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE: '/y' };
  expect(checkConfig({ ...ACCOUNTS, ...files }).channels.whatsapp).toMatchObject({
    callbacks: { appSecretFile: '/x', verifyTokenFile: '/y' },
  });
});

test('browsers have a poster of their own: the networks of the operator are not for what a member names', async () => {
  const asked: string[] = [];
  const posterOf = (name: string) => ({
    ask: () => {
      asked.push(name);
      return Promise.resolve({ outcome: 'stopped' as const });
    },
  });
  const webPush = { poster: posterOf('push'), vapid: () => vapidKeys, subject: 'mailto:a@example.com' };
  const accounts = checkConfig({}).channels;
  const { web_push: channel } = createChannels({ poster: posterOf('targets'), now: Date.now, accounts, smtp: null, webPush });
  const subscription = { endpoint: 'https://push.example.com/s', p256dh: browser.p256dh, auth: browser.auth };
  await channel!.send(messageOf(agentAway()), subscription, new AbortController().signal);
  expect(asked).toEqual(['push']);
});

test.each<[Record<string, string>, string]>([
  [{ SIGNALBOX_SMS_ACCOUNT: 'AC1' }, 'SIGNALBOX_SMS_TOKEN_FILE is needed with SIGNALBOX_SMS_ACCOUNT'],
  [{ SIGNALBOX_SMS_FROM: '+15550100123' }, 'SIGNALBOX_SMS_ACCOUNT is needed with SIGNALBOX_SMS_FROM'],
  [
    { ...ACCOUNTS, SIGNALBOX_WHATSAPP_APP_SECRET_FILE: '/x' },
    'SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE is needed with SIGNALBOX_WHATSAPP_APP_SECRET_FILE',
  ],
  [
    { SIGNALBOX_WHATSAPP_APP_SECRET_FILE: '/x', SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE: '/y' },
    'SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID is needed with SIGNALBOX_WHATSAPP_APP_SECRET_FILE',
  ],
  [{ SIGNALBOX_WHATSAPP_TOKEN_FILE: '/x' }, 'SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID is needed with SIGNALBOX_WHATSAPP_TOKEN_FILE'],
  [{ ...ACCOUNTS, SIGNALBOX_SMS_FROM: 'a name that is too long' }, 'SIGNALBOX_SMS_FROM must be a telephone number'],
  [{ ...ACCOUNTS, SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID: '../x' }, 'SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID must be the id of a phone number'],
])('%j is half an account', (values, mistake) => {
  expect(() => checkConfig(values)).toThrow(mistake);
});

test('a bucket does not give an address away', () => {
  const { channels } = checkConfig(ACCOUNTS);
  const { slack, teams, pagerduty, ntfy, gotify, webhook, telegram, whatsapp, sms } = made(channels);
  expect([
    webhook!.bucketOf({ url: 'https://hooks.example.com/s3cr3t', secrets: ['s3cr3t'] }),
    slack!.bucketOf({ url: 'https://hooks.slack.com/services/T024/B024/s3cr3t' }),
    teams!.bucketOf({ url: 'https://prod-12.westeurope.logic.azure.com/workflows/0123/triggers/x?sig=s3cr3t' }),
    pagerduty!.bucketOf({ routingKey: 's3cr3ts3cr3ts3cr3ts3cr3ts3PQRSTU', region: 'us' }),
    ntfy!.bucketOf({ url: 'https://ntfy.sh', topic: 's3cr3t', token: 's3cr3t' }),
    gotify!.bucketOf({ url: 'https://gotify.example.com', token: 's3cr3t' }),
    telegram!.bucketOf({ chatId: '-100' }),
    whatsapp!.bucketOf({ to: '+34600123456' }),
    sms!.bucketOf({ to: '+34600123456' }),
  ]).toEqual([
    expect.stringMatching(/^webhook:https:\/\/hooks\.example\.com#[\da-f]{12}$/),
    'slack:T024/B024',
    'teams:prod-12.westeurope.logic.azure.com/0123',
    'pagerduty:PQRSTU',
    expect.stringMatching(/^ntfy:ntfy\.sh#[\da-f]{12}$/),
    expect.stringMatching(/^gotify:gotify\.example\.com#[\da-f]{12}$/),
    'telegram:-100',
    'whatsapp:+34600123456',
    'sms',
  ]);
});
