import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { identifyCaller } from '../../../platform/http/authentication.ts';
import { limitRequests } from '../../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import { SMS_CALLBACK_PATH, WHATSAPP_CALLBACK_PATH } from './address.ts';
import type { ProviderCallbacks } from './service.ts';

/** A callback of a text message has about twenty short parameters. */
const FORM_LIMIT_BYTES = 16 * 1024;
/** Meta puts up to 1,000 changes into one request; a status has about 500 bytes. What is larger, it says again in smaller parts. */
const JSON_LIMIT_BYTES = 1024 * 1024;

/** Four callbacks for each message, one message a second by text and eighty by WhatsApp, all from one network: 6,000 a minute by default. */
const RATE_FACTOR = 100;

const word = z.string().max(500).catch('');
/** Whatever is missing or wrong is as a wrong token is. The challenge is sent back as it came, so it may be a number or a name only. */
const verifyQuery = z.object({
  'hub.mode': word,
  'hub.verify_token': word,
  'hub.challenge': z
    .string()
    .regex(/^[\w-]{1,200}$/)
    .catch(''),
});

export interface CallbackDeps {
  providerCallbacks: ProviderCallbacks;
  rateLimit: RateLimit;
}

/** Where providers of messages say what became of them. */
export async function callbackRoutes(app: App, { providerCallbacks: callbacks, rateLimit }: CallbackDeps): Promise<void> {
  identifyCaller(app, async () => undefined);
  await limitRequests(app, 'callbacks', { ...rateLimit, perMinute: rateLimit.perMinute * RATE_FACTOR });
  app.removeAllContentTypeParsers();
  // Signatures are of the bytes, so nothing is parsed before.
  const form = { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES } as const;
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', form, (_request, body, done) => done(null, body));
  const json = { parseAs: 'buffer', bodyLimit: JSON_LIMIT_BYTES } as const;
  app.addContentTypeParser<Buffer>('application/json', json, (_request, body, done) => done(null, body));
  const schema = { hide: true };
  app.post(SMS_CALLBACK_PATH, { schema }, async (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    await callbacks.onSms({ target: request.url, signature: header(request, 'x-twilio-signature'), body });
    return reply.code(204).send();
  });
  app.post(WHATSAPP_CALLBACK_PATH, { schema }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    await callbacks.onWhatsapp({ signature: header(request, 'x-hub-signature-256'), body });
    // Meta takes nothing but 200 for an answer.
    return reply.code(200).type('text/plain; charset=utf-8').serializer(String).send('');
  });
  app.get(WHATSAPP_CALLBACK_PATH, { schema: { ...schema, querystring: verifyQuery } }, async (request, reply) => {
    const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': answer } = request.query;
    const said = await callbacks.verifyWhatsapp({ mode, token, challenge: answer });
    return reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').serializer(String).send(said);
  });
}

function header({ headers }: FastifyRequest, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
