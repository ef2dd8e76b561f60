import { z } from 'zod';
import { readAs, readUrl } from './config-values.ts';
import type { FieldErrors } from './platform/core/errors.ts';

/** The operator's accounts at providers of messages. */

/** Meta supports a version for about two years. */
const WHATSAPP_URL = 'https://graph.facebook.com/v23.0';

export const channelSettings = {
  SIGNALBOX_TELEGRAM_TOKEN_FILE: z.string().optional(),
  SIGNALBOX_TELEGRAM_URL: z.string().default('https://api.telegram.org').transform(readAs(readUrl, 'an http or https address')),
  SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID: z
    .string()
    .regex(/^\d{1,30}$/, 'must be the id of a phone number, which has digits only')
    .optional(),
  SIGNALBOX_WHATSAPP_TOKEN_FILE: z.string().optional(),
  SIGNALBOX_WHATSAPP_TEMPLATE: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must hold small letters, digits and _ only')
    .default('signalbox_notification'),
  SIGNALBOX_WHATSAPP_APP_SECRET_FILE: z.string().optional(),
  SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE: z.string().optional(),
  SIGNALBOX_WHATSAPP_URL: z.string().default(WHATSAPP_URL).transform(readAs(readUrl, 'an http or https address')),
  SIGNALBOX_SMS_ACCOUNT: z
    .string()
    .regex(/^\w{1,64}$/, 'must be the id of an account')
    .optional(),
  SIGNALBOX_SMS_TOKEN_FILE: z.string().optional(),
  SIGNALBOX_SMS_FROM: z
    .string()
    .regex(
      /^(?:\+[1-9]\d{6,14}|MG\w{1,64}|[A-Za-z0-9 ]{1,11})$/,
      'must be a telephone number like +15550100, a messaging service, or a name',
    )
    .optional(),
  SIGNALBOX_SMS_URL: z.string().default('https://api.twilio.com').transform(readAs(readUrl, 'an http or https address')),
};

const checked = z.object(channelSettings);
type CheckedChannels = z.infer<typeof checked>;

export interface ChannelsConfig {
  readonly telegram: { readonly apiUrl: string; readonly tokenFile: string } | null;
  readonly whatsapp: {
    readonly apiUrl: string;
    readonly phoneNumberId: string;
    readonly template: string;
    readonly tokenFile: string;
    /** For what Meta says of messages later; null: nobody hears it. */
    readonly callbacks: { readonly appSecretFile: string; readonly verifyTokenFile: string } | null;
  } | null;
  readonly sms: { readonly apiUrl: string; readonly accountId: string; readonly from: string; readonly tokenFile: string } | null;
}

/** Files, whose relative names start at the folder of the configuration file. */
export const CHANNEL_FILES = [
  'SIGNALBOX_TELEGRAM_TOKEN_FILE',
  'SIGNALBOX_WHATSAPP_TOKEN_FILE',
  'SIGNALBOX_WHATSAPP_APP_SECRET_FILE',
  'SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE',
  'SIGNALBOX_SMS_TOKEN_FILE',
];

/** Whoever sets one of the former needs the latter. */
const WHATSAPP = ['SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID', 'SIGNALBOX_WHATSAPP_TOKEN_FILE'];
const WHATSAPP_CALLBACKS = ['SIGNALBOX_WHATSAPP_APP_SECRET_FILE', 'SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE'];
const SMS = ['SIGNALBOX_SMS_ACCOUNT', 'SIGNALBOX_SMS_TOKEN_FILE', 'SIGNALBOX_SMS_FROM'];
const NEEDS = [
  { given: WHATSAPP, needed: WHATSAPP },
  { given: WHATSAPP_CALLBACKS, needed: [...WHATSAPP_CALLBACKS, ...WHATSAPP] },
  { given: SMS, needed: SMS },
];

/** What is missing beside what is given. */
export function channelMistakes(values: Readonly<Record<string, string>>): FieldErrors {
  const mistakes: FieldErrors = {};
  for (const { given, needed } of NEEDS) {
    const first = given.find((name) => values[name] !== undefined);
    if (first === undefined) continue;
    for (const name of needed) if (values[name] === undefined) mistakes[name] = [`is needed with ${first}`];
  }
  return mistakes;
}

export function channelsOf(checked: CheckedChannels): ChannelsConfig {
  const { SIGNALBOX_TELEGRAM_TOKEN_FILE: telegram } = checked;
  return {
    telegram: telegram === undefined ? null : { apiUrl: checked.SIGNALBOX_TELEGRAM_URL, tokenFile: telegram },
    whatsapp: whatsappOf(checked),
    sms: smsOf(checked),
  };
}

function whatsappOf(checked: CheckedChannels): ChannelsConfig['whatsapp'] {
  const { SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID: phoneNumberId, SIGNALBOX_WHATSAPP_TOKEN_FILE: tokenFile } = checked;
  if (phoneNumberId === undefined || tokenFile === undefined) return null;
  const { SIGNALBOX_WHATSAPP_APP_SECRET_FILE: appSecretFile, SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE: verifyTokenFile } = checked;
  const callbacks = appSecretFile === undefined || verifyTokenFile === undefined ? null : { appSecretFile, verifyTokenFile };
  return { apiUrl: checked.SIGNALBOX_WHATSAPP_URL, phoneNumberId, template: checked.SIGNALBOX_WHATSAPP_TEMPLATE, tokenFile, callbacks };
}

function smsOf(checked: CheckedChannels): ChannelsConfig['sms'] {
  const { SIGNALBOX_SMS_ACCOUNT: accountId, SIGNALBOX_SMS_TOKEN_FILE: tokenFile, SIGNALBOX_SMS_FROM: from } = checked;
  if (accountId === undefined || tokenFile === undefined || from === undefined) return null;
  return { apiUrl: checked.SIGNALBOX_SMS_URL, accountId, from, tokenFile };
}
