import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { problemSchema } from '../../../platform/http/error-handler.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { wholeAddress } from './read-contact.ts';
import type { ContactsService, Owner } from './service.ts';
import { CONTACT_CHANNELS, OPTOUT_SCOPES } from './types.ts';
import type { Contact, ContactAddress } from './types.ts';

const channel = z.enum(CONTACT_CHANNELS);
const contactSchema = z
  .object({
    id: z.string(),
    channel,
    address: z.string().describe('For `web_push` the service of the browser'),
    is_account: z.boolean().describe('The email of the account'),
    verified_at: dateTime.nullable().describe('When you proved it; null: nothing is sent there'),
    off_reason: z
      .string()
      .nullable()
      .describe(
        'Why nothing is sent there: `switched_off` and `unsubscribed` are your decision, the others say what the receiver answered',
      ),
    off_at: dateTime.nullable(),
    created_at: dateTime,
  })
  .meta({
    id: 'Contact',
    examples: [
      {
        id: '01a1fba5-6c2d-7b54-8c11-d4f2a6c8e0b2',
        channel: 'sms',
        address: '+34600123456',
        is_account: false,
        verified_at: '2031-05-01T08:30:00.000Z',
        off_reason: null,
        off_at: null,
        created_at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });

const subscription = z
  .object({ endpoint: z.string().max(1000), keys: z.object({ p256dh: z.string().max(200), auth: z.string().max(100) }) })
  .describe('`PushSubscription.toJSON()` of the browser')
  .meta({ id: 'BrowserSubscription' });
const newContactBody = z
  .object({
    channel,
    address: z.string().max(320).optional().describe('Email address, telephone number with `+`, or number of your chat with the bot'),
    subscription: subscription.optional(),
  })
  .meta({ id: 'NewContact', examples: [{ channel: 'sms', address: '+34 600 123 456' }] });
const contactChangeBody = z
  .object({ off: z.boolean().describe('True: nothing is sent there until you set it to false') })
  .meta({ id: 'ContactChange', examples: [{ off: true }] });

const sentProofSchema = z
  .object({
    sent: z.boolean().describe('Whether the receiver took the message'),
    error: z.string().nullable().describe('Why not, as a stable word'),
    detail: z.string().nullable().describe("The receiver's own words"),
    expires_at: dateTime.describe('Until when the code or link can be used'),
  })
  .meta({ id: 'SentProof', examples: [{ sent: true, error: null, detail: null, expires_at: '2031-05-01T08:40:00.000Z' }] });
const codeBody = z
  .object({ code: z.string().trim().min(1).max(20).describe('The six digits of the message') })
  .meta({ id: 'ContactCode', examples: [{ code: '042137' }] });

const optoutSchema = z
  .object({
    id: z.string(),
    scope: z.enum(OPTOUT_SCOPES),
    scope_id: z.string().nullable().describe('Id of the group or topic; null for `all`'),
    at: dateTime,
  })
  .meta({
    id: 'Unsubscription',
    examples: [
      {
        id: '01a1fba6-1d3e-7c67-8668-501e0fbecc7f',
        scope: 'group' as const,
        scope_id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });

const pushKeySchema = z.object({ public_key: z.string().describe('An uncompressed point on P-256, in base64url') }).meta({ id: 'PushKey' });

const contactParams = z.object({ contact_id: pathId });
const tags = ['account'];

export interface ContactRoutesDeps {
  contacts: ContactsService;
  pushKeys: { load(): Promise<{ publicKey: string }> };
}

/** What people set about their own notifications. Nobody can do it for them. */
export function contactRoutes(app: App, { contacts, pushKeys }: ContactRoutesDeps): void {
  pushKey(app, pushKeys);
  ownContacts(app, contacts);
  proofOfContacts(app, contacts);
  ownOptouts(app, contacts);
}

/** @throws AppError `forbidden` for an API key; also for a client that acts for the person, if `alone` */
export function ownerOf(request: FastifyRequest, alone: boolean): Owner {
  const { kind, id, teamId, clientId } = principalOf(request);
  if (kind !== 'user') throw new AppError('forbidden', 'an API key has no addresses; sign in');
  if (alone && clientId !== undefined) throw new AppError('forbidden', 'a client that acts for a user cannot change how they are reached');
  return { teamId, userId: id };
}

function pushKey(app: App, keys: ContactRoutesDeps['pushKeys']): void {
  app.get(
    '/api/me/push-key',
    {
      schema: {
        tags,
        operationId: 'getPushKey',
        summary: 'Read the key with which a browser subscribes to notifications',
        description: '`applicationServerKey` of `PushManager.subscribe()`. It never changes.',
        response: { 200: envelope(pushKeySchema), ...commonErrors },
      },
    },
    async (request) => {
      ownerOf(request, false);
      return success({ public_key: (await keys.load()).publicKey });
    },
  );
}

function ownContacts(app: App, contacts: ContactsService): void {
  app.get(
    '/api/me/contacts',
    { schema: { tags, summary: 'List where you are reached', response: { 200: envelope(z.array(contactSchema)), ...commonErrors } } },
    async (request) => success((await contacts.listOwn(ownerOf(request, false))).map(present)),
  );
  app.post(
    '/api/me/contacts',
    {
      schema: {
        tags,
        summary: 'Add an address of yours; prove it before anything is sent there',
        description: 'One address for each channel, and up to 5 browsers. A browser has asked you, so it counts as proved.',
        body: newContactBody,
        response: {
          200: envelope(contactSchema),
          ...commonErrors,
          409: problemSchema.describe('You have this address, or another one for this channel'),
        },
      },
    },
    async (request) => {
      const owner = ownerOf(request, true);
      const contact = await contacts.add(owner, request.body.channel, request.body);
      request.auditDetail = `${contact.channel} ${contact.shown}`;
      return success(present({ contact, address: await contacts.open(contact) }));
    },
  );
  app.patch(
    '/api/me/contacts/:contact_id',
    {
      schema: {
        tags,
        summary: 'Switch an address of yours off or on',
        params: contactParams,
        body: contactChangeBody,
        response: { 200: envelope(contactSchema), ...commonErrors, 409: problemSchema.describe('The receiver has switched it off') },
      },
    },
    async (request) => {
      const owner = ownerOf(request, true);
      await contacts.setOff(owner, request.params.contact_id, request.body.off);
      return success(await presentOne(contacts, owner, request.params.contact_id));
    },
  );
  app.delete(
    '/api/me/contacts/:contact_id',
    {
      schema: {
        tags,
        summary: 'Delete an address of yours',
        params: contactParams,
        response: { 204: z.null().describe('Deleted'), ...commonErrors, 409: problemSchema.describe('It is the email of your account') },
      },
    },
    async (request, reply) => {
      await contacts.delete(ownerOf(request, true), request.params.contact_id);
      return reply.code(204).send(null);
    },
  );
}

function proofOfContacts(app: App, contacts: ContactsService): void {
  app.post(
    '/api/me/contacts/:contact_id/send-code',
    {
      schema: {
        tags,
        operationId: 'sendContactCode',
        summary: 'Send a message with a code, or by email with a link, to an address of yours',
        description: 'An earlier one ends. Answers within 15 s whether the receiver took the message.',
        params: contactParams,
        response: {
          200: envelope(sentProofSchema),
          ...commonErrors,
          409: problemSchema.describe('The channel is not configured'),
          429: problemSchema.describe('Too many codes were sent'),
        },
      },
    },
    async (request) => {
      const { result, expiresAt } = await contacts.sendProof(ownerOf(request, true), request.params.contact_id);
      const failed = 'error' in result ? { error: result.error, detail: result.detail } : { error: null, detail: null };
      return success({ sent: result.outcome === 'sent', ...failed, expires_at: toDateTime(expiresAt) });
    },
  );
  app.post(
    '/api/me/contacts/:contact_id/verify',
    {
      schema: {
        tags,
        operationId: 'verifyContact',
        summary: 'Prove an address of yours by the code that was sent there',
        description: 'A code can be used for 10 minutes, and ends with the fifth wrong one.',
        params: contactParams,
        body: codeBody,
        response: { 200: envelope(contactSchema), ...commonErrors },
      },
    },
    async (request) => {
      const owner = ownerOf(request, true);
      await contacts.verify(owner, request.params.contact_id, request.body.code);
      return success(await presentOne(contacts, owner, request.params.contact_id));
    },
  );
}

function ownOptouts(app: App, contacts: ContactsService): void {
  app.get(
    '/api/me/unsubscriptions',
    {
      schema: {
        tags,
        summary: 'List what you do not want to get from this team',
        response: { 200: envelope(z.array(optoutSchema)), ...commonErrors },
      },
    },
    async (request) => {
      const list = await contacts.listOptouts(ownerOf(request, false));
      return success(
        list.map(({ id, scope, scopeId, at }) => ({ id, scope, scope_id: scopeId === '' ? null : scopeId, at: toDateTime(at) })),
      );
    },
  );
  app.delete(
    '/api/me/unsubscriptions/:unsubscription_id',
    {
      schema: {
        tags,
        summary: 'Get this from the team again',
        params: z.object({ unsubscription_id: pathId }),
        response: { 204: z.null().describe('You get it again'), ...commonErrors },
      },
    },
    async (request, reply) => {
      await contacts.optIn(ownerOf(request, true), request.params.unsubscription_id);
      return reply.code(204).send(null);
    },
  );
}

async function presentOne(contacts: ContactsService, owner: Owner, contactId: string): Promise<z.infer<typeof contactSchema>> {
  const contact = (await contacts.person(owner)).contacts.find(({ id }) => id === contactId)!;
  return present({ contact, address: await contacts.open(contact) });
}

function present({ contact, address }: { contact: Contact; address: ContactAddress }): z.infer<typeof contactSchema> {
  return {
    id: contact.id,
    channel: contact.channel,
    address: wholeAddress(contact, address),
    is_account: contact.sealed === null,
    verified_at: contact.verifiedAt === null ? null : toDateTime(contact.verifiedAt),
    off_reason: contact.offReason,
    off_at: contact.offAt === null ? null : toDateTime(contact.offAt),
    created_at: toDateTime(contact.createdAt),
  };
}
