import type { IncomingMessage } from 'node:http';
import fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { newId } from '../core/ids.ts';
import type { App } from './app-type.ts';
import { keepAddresses } from './client-address.ts';
import type { IsTrustedProxy } from './client-address.ts';
import { ClientErrors } from './client-errors.ts';
import { describeProblem, errorHandlerFor } from './error-handler.ts';
import type { DescribeError } from './error-handler.ts';
import { readJsonBodies } from './json-body.ts';
import { refuseUnknownPaths } from './known-paths.ts';
import type { PageFor } from './known-paths.ts';
import { validatorCompiler } from './validation.ts';

export type { App } from './app-type.ts';

export interface AppOptions {
  log: Log;
  now: () => number;
  tls?: { cert: Buffer; key: Buffer } | undefined;
  /** The proxies whose X-Forwarded-For is trusted; none by default. */
  isTrustedProxy?: IsTrustedProxy;
  /** The format of errors; problem+json unless an interface has an error object of its own. */
  describeError?: DescribeError;
  /** Pages of the web application. */
  pageFor?: PageFor;
  /** Parses integers in bodies that a JavaScript number cannot hold as bigint. */
  exactIntegers?: boolean;
}

/** Largest request body: a script of 2,000 characters, a command's parameters and group lists fit many times. */
const BODY_LIMIT_BYTES = 1024 * 1024;
/** A whole request must arrive in this time, so that slow clients cannot hold sockets. */
const REQUEST_TIMEOUT_MS = 30_000;

const SERVER_OPTIONS = {
  // As for a whole request. Node's defaults are 120 s and 60 s, checked every 30 s.
  handshakeTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 6,
  // Node's own error for a request without a Host header has no body.
  requireHostHeader: false,
  // A client that offers another protocol, such as h2c from Java's client, gets a normal response (RFC 9110, section 7.8).
  shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket',
};

/** Node uses the first one; a proxy may have checked the last. */
const ONCE_ONLY = new Set(['host', 'authorization']);

/** The HTTP application with validation, errors and limits, without routes. */
export function createApp(options: AppOptions): App {
  const describe = options.describeError ?? describeProblem;
  const clientErrors = new ClientErrors((error) => describe(error, newId(options.now())));
  const instance = fastify({
    loggerInstance: fastifyLogger(options.log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Fastify's own error while closing has another format.
    return503OnClosing: false,
    trustProxy: options.isTrustedProxy ?? false,
    // The link by which somebody leaves 20 topics has 1,250 characters; routes limit their own parameters.
    routerOptions: { maxParamLength: 2000 },
    genReqId: () => newId(options.now()),
    // URLs with malformed escapes do not reach the error handler on their own.
    frameworkErrors: errorHandlerFor(describe),
    clientErrorHandler: (error, socket) => clientErrors.answer(error, socket),
    ...(options.tls ? { https: { ...options.tls, ...SERVER_OPTIONS } } : { http: SERVER_OPTIONS }),
  }) as unknown as App;
  instance.setValidatorCompiler(validatorCompiler);
  instance.setSerializerCompiler(serializerCompiler);
  clientErrors.watch(instance.server);
  readJsonBodies(instance, options.exactIntegers ?? false);
  instance.setErrorHandler(errorHandlerFor(describe));
  refuseUnknownPaths(instance, options.pageFor);
  let isClosing = false;
  instance.addHook('preClose', async () => {
    isClosing = true;
  });
  instance.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // Before anything reads the client's address.
    keepAddresses(request.raw.headers);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw new AppError('bad_request', 'the Host header is missing');
    const repeated = repeatedHeader(request.raw.rawHeaders);
    if (repeated !== undefined) throw new AppError('bad_request', `the header ${repeated} comes more than once`);
    if (isClosing) throw new AppError('unavailable', 'the server is stopping; try again in a moment');
  });
  return instance;
}

/** Fastify requires more levels than the product uses. */
function fastifyLogger(log: Log): FastifyBaseLogger {
  const debug = log.debug.bind(log) as FastifyBaseLogger['debug'];
  const info = log.info.bind(log) as FastifyBaseLogger['info'];
  const warn = log.warn.bind(log) as FastifyBaseLogger['warn'];
  const error = log.error.bind(log) as FastifyBaseLogger['error'];
  const child = (fields: object): FastifyBaseLogger => fastifyLogger(log.child(fields));
  return { level: 'info', trace: debug, debug, info, warn, error, fatal: error, silent: debug, child };
}

/** @param raw names and values in turn, as Node keeps them */
function repeatedHeader(raw: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (ONCE_ONLY.has(name) && seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
