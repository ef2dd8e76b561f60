import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { fits } from '../../../server/outbound/notifications/channels/sms-text.ts';

/**
 * What the providers publish about their requests, as checks: shapes are strict, limits are theirs. Written from their documentation, not
 * from our code, so that a request which they would refuse fails here.
 */

export interface ProviderRequest {
  method: string;
  /** With the query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** What is wrong with a request; empty when the provider would take it. */
export type Check = (request: ProviderRequest) => string[];

const httpsUrl = z.url({ protocol: /^https$/ }).max(2048);

function matches(schema: z.ZodType, request: ProviderRequest): string[] {
  let value: unknown;
  try {
    value = JSON.parse(request.body.toString());
  } catch {
    return ['the body is no JSON'];
  }
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
}

function wanted(what: string, is: boolean): string[] {
  return is ? [] : [what];
}

const isJson = ({ headers }: ProviderRequest): string[] => wanted('content-type', headers['content-type'] === 'application/json');

/** docs.slack.dev/reference/block-kit: 50 blocks, a header of 150 characters, texts of 3,000; `&`, `<` and `>` are escaped. */
const escaped = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^(?:[^&<>]|&(?:amp|lt|gt);)*$/, 'has unescaped characters');
const slackPlain = (max: number) => z.strictObject({ type: z.literal('plain_text'), text: escaped(max), emoji: z.boolean().optional() });
const slackSchema = z.strictObject({
  text: escaped(40_000),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
  blocks: z
    .array(
      z.union([
        z.strictObject({ type: z.literal('header'), text: slackPlain(150) }),
        z.strictObject({ type: z.literal('section'), text: slackPlain(3000) }),
        z.strictObject({
          type: z.literal('section'),
          text: z.strictObject({
            type: z.literal('mrkdwn'),
            // Our links, and nothing else that Slack interprets.
            text: z
              .string()
              .max(3000)
              .regex(
                /^<https:\/\/signalbox\.example\.com\/[^<>|]*\|[^<>|]+>(?: {3}<https:\/\/signalbox\.example\.com\/[^<>|]*\|[^<>|]+>)?$/,
              ),
            verbatim: z.boolean(),
          }),
        }),
      ]),
    )
    .min(1)
    .max(50),
});

export const checkSlack: Check = (request) => [...isJson(request), ...matches(slackSchema, request)];

/** adaptivecards.io/explorer, version 1.4: the elements that we use, with their values; Teams takes 28 kB a message. */
const textRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
  weight: z.enum(['Default', 'Lighter', 'Bolder']).optional(),
  color: z.enum(['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention']).optional(),
});
const adaptiveCard = z.strictObject({
  type: z.literal('AdaptiveCard'),
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  version: z.enum(['1.0', '1.1', '1.2', '1.3', '1.4', '1.5']),
  fallbackText: z.string(),
  speak: z.string(),
  msteams: z.strictObject({ width: z.literal('Full') }),
  body: z.array(z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(textRun).min(1) })).min(1),
  actions: z.array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string().min(1), url: httpsUrl })).max(6),
});
const teamsSchema = z.strictObject({
  type: z.literal('message'),
  attachments: z
    .array(
      z.strictObject({ contentType: z.literal('application/vnd.microsoft.card.adaptive'), contentUrl: z.null(), content: adaptiveCard }),
    )
    .length(1),
});

export const checkTeams: Check = (request) => [
  ...isJson(request),
  ...matches(teamsSchema, request),
  ...wanted('28 kB', request.body.length <= 28 * 1024),
];

/** core.telegram.org/bots/api#sendmessage */
const telegramSchema = z.strictObject({
  chat_id: z.union([z.string().regex(/^(?:-?\d+|@\w{5,})$/), z.int()]),
  text: z.string().min(1).max(4096),
  link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
  disable_notification: z.boolean(),
  reply_parameters: z.strictObject({ message_id: z.int().positive(), allow_sending_without_reply: z.boolean() }).optional(),
});

/** core.telegram.org/bots/api#getupdates: `update_id` above 0, 1 to 100 updates; a webhook that is not wanted is not set. */
const updatesSchema = z.strictObject({
  offset: z.int().positive().optional(),
  limit: z.int().min(1).max(100).optional(),
  timeout: z.int().nonnegative().optional(),
  allowed_updates: z.array(z.enum(['message', 'edited_message', 'callback_query', 'my_chat_member'])).optional(),
});
const telegramMethods: Readonly<Record<string, z.ZodType>> = {
  sendMessage: telegramSchema,
  // core.telegram.org/bots/api#getme: requires no parameters.
  getMe: z.strictObject({}),
  getUpdates: updatesSchema,
};

/** The name of the method; empty for another address. */
export function telegramMethod({ path }: Pick<ProviderRequest, 'path'>): string {
  return /^\/bot\d+:[\w-]+\/(\w+)$/.exec(path)?.[1] ?? '';
}

export const checkTelegram: Check = (request) => {
  const schema = telegramMethods[telegramMethod(request)];
  return [...isJson(request), ...wanted('path', schema !== undefined), ...(schema ? matches(schema, request) : [])];
};

/** developer.pagerduty.com, Events API v2: "Send an event". */
const eventKeys = { routing_key: z.string().length(32), dedup_key: z.string().min(1).max(255) };
const pagerdutySchema = z.union([
  z.strictObject({ ...eventKeys, event_action: z.enum(['acknowledge', 'resolve']) }),
  z.strictObject({
    ...eventKeys,
    event_action: z.literal('trigger'),
    payload: z.strictObject({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
      class: z.string(),
      group: z.string(),
      custom_details: z.record(z.string(), z.unknown()),
    }),
    client: z.string(),
    client_url: httpsUrl,
    links: z.array(z.strictObject({ href: httpsUrl, text: z.string() })),
  }),
]);

export const checkPagerduty: Check = (request) => [
  ...isJson(request),
  ...matches(pagerdutySchema, request),
  ...wanted('512 kB', request.body.length <= 512 * 1024),
];

/** docs.ntfy.sh/publish/#publish-as-json */
const ntfyName = z.string().regex(/^[-_A-Za-z0-9]{1,64}$/);
const ntfySchema = z.strictObject({
  topic: ntfyName,
  title: z.string(),
  message: z.string().refine((text) => Buffer.byteLength(text) <= 4096, 'more than 4,096 bytes'),
  priority: z.int().min(1).max(5),
  click: httpsUrl,
  // docs.ntfy.sh/publish/#action-buttons
  actions: z
    .array(z.strictObject({ action: z.literal('view'), label: z.string().min(1), url: httpsUrl }))
    .max(3)
    .optional(),
  sequence_id: ntfyName,
});

export const checkNtfy: Check = (request) => [...isJson(request), ...wanted('path', request.path === '/'), ...matches(ntfySchema, request)];

/** gotify.net/api-docs: createMessage, and gotify.net/docs/msgextras. */
const gotifySchema = z.strictObject({
  title: z.string(),
  message: z.string().min(1),
  priority: z.int().min(0).max(10),
  extras: z.strictObject({
    'client::display': z.strictObject({ contentType: z.enum(['text/plain', 'text/markdown']) }),
    'client::notification': z.strictObject({ click: z.strictObject({ url: httpsUrl }) }),
  }),
});

export const checkGotify: Check = (request) => [
  ...isJson(request),
  ...wanted('path', request.path === '/message'),
  ...wanted('x-gotify-key', (request.headers['x-gotify-key'] ?? '') !== ''),
  ...matches(gotifySchema, request),
];

/** twilio.com/docs/messaging/api/message-resource#create-a-message-resource, and one segment. */
export const checkSms: Check = (request) => {
  const form = new URLSearchParams(request.body.toString());
  return [
    ...wanted('content-type', request.headers['content-type'] === 'application/x-www-form-urlencoded'),
    ...wanted('authorization', /^Basic [A-Za-z0-9+/]+=*$/.test(request.headers['authorization'] ?? '')),
    ...wanted('path', /^\/2010-04-01\/Accounts\/\w+\/Messages\.json$/.test(request.path)),
    ...wanted('To', /^\+[1-9]\d{6,14}$/.test(form.get('To') ?? '')),
    ...wanted('a sender', (form.get('From') ?? form.get('MessagingServiceSid') ?? '') !== ''),
    ...wanted('one segment', fits(form.get('Body') ?? '') && form.get('Body') !== ''),
    ...wanted(
      'no other field',
      [...form.keys()].every((name) => ['To', 'From', 'MessagingServiceSid', 'Body', 'StatusCallback'].includes(name)),
    ),
    // Error 21609: a whole address, which Twilio must be able to call.
    ...wanted(
      'StatusCallback',
      !form.has('StatusCallback') || z.url({ protocol: /^https?$/ }).safeParse(form.get('StatusCallback')).success,
    ),
  ];
};

/** developers.facebook.com/docs/whatsapp/cloud-api/guides/send-message-templates */
const variable = z.strictObject({
  type: z.literal('text'),
  text: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^(?![^]*(?:[\n\t]| {5}))/, 'has line breaks, tabs or more than four spaces'),
});
const whatsappSchema = z.strictObject({
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual'),
  to: z.string().regex(/^[1-9]\d{6,14}$/),
  type: z.literal('template'),
  template: z.strictObject({
    name: z.string().regex(/^[a-z0-9_]{1,512}$/),
    language: z.strictObject({ code: z.enum(['en', 'de', 'es']) }),
    components: z.array(z.strictObject({ type: z.literal('body'), parameters: z.array(variable).length(4) })).length(1),
  }),
});

export const checkWhatsapp: Check = (request) => [
  ...isJson(request),
  ...wanted('path', /^\/v\d+\.\d+\/\d+\/messages$/.test(request.path)),
  ...wanted('authorization', /^Bearer \S+$/.test(request.headers['authorization'] ?? '')),
  ...matches(whatsappSchema, request),
];

/** RFC 8030, 8188, 8291, 8292. */
export const checkWebPush: Check = (request) => {
  const { headers, body } = request;
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers['authorization'] ?? '') ?? [];
  const claims = token === '' ? {} : decodeJwt(token);
  return [
    ...wanted('content-encoding', headers['content-encoding'] === 'aes128gcm'),
    ...wanted('ttl', /^\d+$/.test(headers['ttl'] ?? '')),
    ...wanted('urgency', ['very-low', 'low', 'normal', 'high'].includes(headers['urgency'] ?? '')),
    ...wanted('topic', /^[A-Za-z0-9_-]{1,32}$/.test(headers['topic'] ?? '')),
    ...wanted('alg', token !== '' && decodeProtectedHeader(token).alg === 'ES256'),
    ...wanted('aud', /^https?:\/\/[^/]+$/.test(String(claims.aud))),
    ...wanted('exp', typeof claims.exp === 'number' && claims.exp - Date.now() / 1000 <= 24 * 3600),
    ...wanted('sub', /^(?:mailto:|https:\/\/)/.test(String(claims.sub))),
    ...wanted('the key', Buffer.from(key, 'base64url').length === 65),
    ...wanted('4,096 bytes', body.length <= 4096),
  ];
};

/** A browser that has subscribed: it reads what was sent to it. */
export class PushReceiver {
  readonly #key = createECDH('prime256v1');
  readonly #auth = Buffer.from('0123456789abcdef');
  readonly p256dh: string;
  readonly auth: string;

  constructor() {
    this.p256dh = this.#key.generateKeys('base64url');
    this.auth = this.#auth.toString('base64url');
  }

  read(body: Buffer): Record<string, unknown> {
    const salt = body.subarray(0, 16);
    const sender = body.subarray(21, 21 + body[20]!);
    const record = body.subarray(21 + body[20]!);
    const derive = (input: Buffer, salt: Buffer, info: Buffer, length: number): Buffer =>
      Buffer.from(hkdfSync('sha256', input, salt, info, length));
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#key.getPublicKey(), sender]);
    const input = derive(this.#key.computeSecret(sender), this.#auth, info, 32);
    const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(record.subarray(-16));
    const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString()) as Record<string, unknown>;
  }
}
