import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHANNEL_NAMES, notConfigured, offeredChannels } from '../../../server/outbound/notifications/channels/offer.ts';
import type { Channel } from '../../../server/outbound/notifications/channels/types.ts';

test('a channel that needs an account of the operator names settings that exist', () => {
  const documented = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const needy = offeredChannels({}).filter(({ settings }) => settings.length > 0);
  expect(needy.map(({ channel }) => channel)).toEqual(['email', 'telegram', 'whatsapp', 'sms']);
  for (const { channel, settings } of needy) {
    for (const setting of settings) {
      expect(documented).toContain(`| \`${setting}\` |`);
      expect(notConfigured(channel)).toContain(setting);
    }
  }
});

test('what this control plane has is configured, and nothing else', () => {
  const offered = offeredChannels({ webhook: {} as Channel<'webhook'>, sms: {} as Channel<'sms'> });
  expect(offered.map(({ channel }) => channel)).toEqual(CHANNEL_NAMES);
  expect(offered.filter(({ isConfigured }) => isConfigured).map(({ channel }) => channel)).toEqual(['webhook', 'sms']);
});
