import type { NotificationTarget, NotificationTargetAddress } from '../../../../../client/browser.ts';

export type TargetChannel = NotificationTarget['channel'];

interface AddressField {
  /** As in the request. */
  name: keyof NotificationTargetAddress;
  label: string;
  hint: string;
  isOptional?: boolean;
  options?: readonly { value: string; name: string }[];
}

interface ChannelForm {
  channel: TargetChannel;
  name: string;
  /** What to do there first, one step a sentence. */
  steps: string;
  fields: readonly AddressField[];
}

/** What to paste where, for each channel (docs/notifications.md, notification targets). */
export const CHANNEL_FORMS: readonly ChannelForm[] = [
  {
    channel: 'slack',
    name: 'Slack',
    steps: 'In Slack, add the application "Incoming webhooks" to the channel and copy the address of the webhook.',
    fields: [{ name: 'url', label: 'Address of the webhook', hint: 'https://hooks.slack.com/services/…' }],
  },
  {
    channel: 'teams',
    name: 'Microsoft Teams',
    steps:
      'In Teams, open Workflows of the channel, choose "Post to a channel when a webhook request is received" and copy its address. The workflow belongs to one person and ends with their account: give it a second owner.',
    fields: [
      { name: 'url', label: 'Address of the workflow', hint: 'https://….logic.azure.com/… or ….environment.api.powerplatform.com/…' },
    ],
  },
  {
    channel: 'webhook',
    name: 'webhook',
    steps: 'Your own program takes a POST with JSON and answers 2xx. Requests are signed with the secret of the team: Settings, Webhooks.',
    fields: [{ name: 'url', label: 'Address', hint: 'https://…, at a public address unless the operator allows others' }],
  },
  {
    channel: 'pagerduty',
    name: 'PagerDuty',
    steps: 'In PagerDuty, add the integration "Events API v2" to the service and copy its integration key. An outage becomes one incident.',
    fields: [
      { name: 'routing_key', label: 'Integration key', hint: '32 letters and digits' },
      {
        name: 'region',
        label: 'Region of your account',
        hint: 'EU if its address is NAME.eu.pagerduty.com',
        options: [
          { value: 'us', name: 'US' },
          { value: 'eu', name: 'EU' },
        ],
      },
    ],
  },
  {
    channel: 'ntfy',
    name: 'ntfy',
    steps: 'On ntfy.sh anybody who knows the topic reads it: choose one that nobody guesses, or protect it and give a token.',
    fields: [
      { name: 'url', label: 'Address of the server', hint: 'https://ntfy.sh, or your own' },
      { name: 'topic', label: 'Topic', hint: 'Letters, digits, hyphens and underscores' },
      { name: 'token', label: 'Access token', hint: 'Only for a protected topic', isOptional: true },
    ],
  },
  {
    channel: 'gotify',
    name: 'Gotify',
    steps: 'In Gotify, make an application and copy its token.',
    fields: [
      { name: 'url', label: 'Address of the server', hint: 'https://gotify.example.net' },
      { name: 'token', label: 'Token of the application', hint: 'It begins with A' },
    ],
  },
  {
    channel: 'telegram',
    name: 'Telegram',
    steps: 'Add the bot of this control plane to the chat or group. Its operator knows the name of the bot.',
    fields: [{ name: 'chat_id', label: 'Number of the chat', hint: 'As -1001234567890, or the @name of a public group' }],
  },
];

export function formOf(channel: TargetChannel): ChannelForm {
  return CHANNEL_FORMS.find((form) => form.channel === channel)!;
}

/** What was typed, by field. */
export type TypedAddress = Partial<Record<keyof NotificationTargetAddress, string>>;

/** Only the fields of the channel; what is left empty is not sent, so that the server names it. */
export function addressOf(channel: TargetChannel, typed: TypedAddress): NotificationTargetAddress {
  const entries = formOf(channel).fields.flatMap(({ name, options }) => {
    const text = (typed[name] ?? options?.[0]?.value ?? '').trim();
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(entries);
}

/** Whether everything that the channel needs has been typed. */
export function isComplete(channel: TargetChannel, typed: TypedAddress): boolean {
  const given = addressOf(channel, typed);
  return formOf(channel).fields.every(({ name, isOptional }) => isOptional === true || given[name] !== undefined);
}
