import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { ownerOf } from '../contacts/routes.ts';
import type { TelegramLinks } from './service.ts';
import { LINK_STATES, READ_PROBLEMS } from './types.ts';
import type { TelegramLink } from './types.ts';

const link = {
  id: z.string(),
  state: z
    .enum(LINK_STATES)
    .describe(
      '`waiting`: nobody has opened it yet. `proved`: the chat is among your contacts. `ended`: it is too old, or another took its place',
    ),
  problem: z
    .enum(READ_PROBLEMS)
    .nullable()
    .describe(
      'Why it cannot be noticed now that you have opened it. `bot_busy`: another program reads the messages to the bot. `bot_refused`: Telegram refuses its token. `rate_limited` and `unavailable` go by. All are tried again',
    ),
  contact_id: z.string().nullable().describe('The contact that it has proved'),
  expires_at: dateTime.describe('Until when it can be opened, or when it ended'),
};
const example = {
  id: '01a1fba7-2b1c-7d11-9e02-6b1f0a9d4c55',
  state: 'waiting' as const,
  problem: null,
  contact_id: null,
  expires_at: '2031-05-01T08:40:00.000Z',
};
const linkSchema = z.object(link).meta({ id: 'TelegramLink', examples: [example] });
const newLinkSchema = z
  .object({ ...link, url: z.string().describe('A secret that is shown once: whoever opens it first proves their own chat for you') })
  .meta({
    id: 'NewTelegramLink',
    examples: [{ ...example, url: 'https://t.me/depot_signalbox_bot?start=7UqfX2bKzP0mRt5yVnJc8LhWd3GsAe6TxQo9Bi1M' }],
  });

const linkParams = z.object({ link_id: pathId });
const tags = ['account'];

export interface TelegramRoutesDeps {
  telegramLinks: TelegramLinks;
}

/** How a person proves a Telegram chat. Nobody can do it for them. */
export function telegramRoutes(app: App, { telegramLinks: links }: TelegramRoutesDeps): void {
  app.post(
    '/api/me/telegram-links',
    {
      config: { secretAnswer: true },
      schema: {
        tags,
        summary: 'Get a link that proves your chat with the Telegram bot',
        description:
          'Open it in Telegram and press Start: the chat is then a proved contact of yours. It works once, for 10 minutes, and until you ask for another one. At most 10 in an hour.',
        response: {
          200: envelope(newLinkSchema),
          ...commonErrors,
          409: problemSchema.describe('You have a chat already, Telegram is not configured, or it refuses the bot'),
          503: problemSchema.describe('Telegram does not answer'),
        },
      },
    },
    async (request, reply) => {
      const { link: made, url } = await links.create(ownerOf(request, true));
      request.auditDetail = `telegram link ${made.id}`;
      reply.header('cache-control', 'no-store');
      return success({ ...present(made), url });
    },
  );
  app.get(
    '/api/me/telegram-links/:link_id',
    {
      schema: {
        tags,
        summary: 'Read whether a link has proved your Telegram chat',
        params: linkParams,
        response: { 200: envelope(linkSchema), ...commonErrors },
      },
    },
    async (request) => success(present(await links.get(ownerOf(request, false), request.params.link_id))),
  );
  app.delete(
    '/api/me/telegram-links/:link_id',
    {
      schema: {
        tags,
        summary: 'End a link to the Telegram bot',
        params: linkParams,
        response: { 204: z.null().describe('It proves nothing any more'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await links.end(ownerOf(request, true), request.params.link_id);
      return reply.code(204).send(null);
    },
  );
}

function present({ id, state, problem, contactId, expiresAt }: TelegramLink): z.infer<typeof linkSchema> {
  return { id, state, problem, contact_id: contactId, expires_at: toDateTime(expiresAt) };
}
