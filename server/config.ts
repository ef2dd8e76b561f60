import { readFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { CHANNEL_FILES, channelMistakes, channelSettings, channelsOf } from './config-channels.ts';
import type { ChannelsConfig } from './config-channels.ts';
import {
  LISTEN_FORM,
  flag,
  readAddress,
  readAs,
  readBusUrl,
  readDatabaseUrl,
  readListen,
  readNameDomain,
  readNetworks,
  readIssuer,
  readMailFrom,
  readOrigins,
  readPortRange,
  readSmtpUrl,
  readTrustProxy,
  readPingUrl,
  readUrl,
  wholeNumber,
} from './config-values.ts';
import { retentionOf, retentionSettings } from './config-retention.ts';
import type { RetentionConfig } from './config-retention.ts';
import type { BusAddress, ListenAddress, MailSender, NameDomain, SmtpServer } from './config-values.ts';
import { AppError, type FieldErrors } from './platform/core/errors.ts';
import { mayUsePlainHttp } from './platform/core/public-address.ts';

export type { ListenAddress } from './config-values.ts';

/**
 * The control plane's configuration: `SIGNALBOX_*` in the environment, or the same names in the YAML file that
 * SIGNALBOX_CONFIG names; the environment has precedence. Read and validated once, then frozen; nothing else reads `process.env`.
 */

/** Any value as text: YAML has numbers and booleans where the environment has text. */
type RawValues = Record<string, string>;

/** A forward is open for at most a day. */
const MAX_IDLE_SECONDS = 86_400;

/** Every setting with its default. docs/settings.md lists them; a test compares the two. */
export const settingsSchema = z.strictObject({
  SIGNALBOX_LISTEN: z.string().default('127.0.0.1:8080').transform(readAs(readListen, LISTEN_FORM)),
  SIGNALBOX_PUBLIC_URL: z.string().transform(readAs(readUrl, 'an http or https address')).optional(),
  SIGNALBOX_SANDBOX_LISTEN: z
    .string()
    .default('127.0.0.1:8081')
    .transform(readAs((text) => (text === '' ? null : readListen(text)), `${LISTEN_FORM}, or empty`)),
  SIGNALBOX_DATABASE_URL: z
    .string()
    .default('sqlite:./data/signalbox.db')
    .transform(readAs(readDatabaseUrl, 'sqlite:<file> or postgres://…')),
  SIGNALBOX_BUS_URL: z.string().transform(readAs(readBusUrl, 'nats://host,host or tls://user:password@host,host')).optional(),
  SIGNALBOX_NODE_PUBLIC_URL: z.string().transform(readAs(readUrl, 'an http or https address')).optional(),
  SIGNALBOX_DRAIN_SECONDS: wholeNumber(10, 0, 300),
  SIGNALBOX_FORWARD_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'must be a host name or an address')
    .optional(),
  SIGNALBOX_FORWARD_LISTEN: z.string().transform(readAs(readAddress, 'an IP address')).optional(),
  SIGNALBOX_FORWARD_PORTS: z.string().default('20000-60000').transform(readAs(readPortRange, 'first-last, each from 1 to 65535')),
  SIGNALBOX_FORWARD_DOMAIN: z.string().transform(readAs(readNameDomain, 'a domain, with :port if clients use another port')).optional(),
  SIGNALBOX_FORWARD_NAME_LISTEN: z.string().transform(readAs(readListen, LISTEN_FORM)).optional(),
  SIGNALBOX_FORWARD_PROXIES: z
    .string()
    .transform(readAs(readNetworks, 'addresses or networks of load balancers separated by commas'))
    .optional(),
  SIGNALBOX_FORWARD_IDLE_SECONDS: wholeNumber(0, 0, MAX_IDLE_SECONDS),
  SIGNALBOX_SECRET_KEY_FILE: z.string().default('./data/secret.key'),
  SIGNALBOX_RATE_LIMIT_PER_MINUTE: wholeNumber(60, 1, 10_000_000),
  SIGNALBOX_ALLOW_PRIVATE_SOURCES: flag,
  SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: flag,
  SIGNALBOX_NOTIFY_PRIVATE: z.string().transform(readAs(readNetworks, 'addresses or networks separated by commas')).optional(),
  SIGNALBOX_TRUST_PROXY: z.string().default('off').transform(readAs(readTrustProxy, 'on, off, or proxy addresses separated by commas')),
  SIGNALBOX_TLS_CERT_FILE: z.string().optional(),
  SIGNALBOX_TLS_KEY_FILE: z.string().optional(),
  SIGNALBOX_HEARTBEAT_SECONDS: wholeNumber(30, 1, 3600),
  SIGNALBOX_OFFLINE_AFTER_SECONDS: wholeNumber(75, 2, 86_400),
  SIGNALBOX_ROUTER_MOVES: z.enum(['approve', 'free'], { error: 'must be approve or free' }).default('approve'),
  SIGNALBOX_ROUTER_MOVE_AFTER_SECONDS: wholeNumber(600, 60, 604_800),
  ...retentionSettings,
  SIGNALBOX_HEARTBEAT_URL: z.string().transform(readAs(readPingUrl, 'an http or https address without a user name')).optional(),
  SIGNALBOX_SMTP_URL: z.string().transform(readAs(readSmtpUrl, 'smtp://user@host:587 or smtps://user@host, without a password')).optional(),
  SIGNALBOX_SMTP_PASSWORD_FILE: z.string().optional(),
  SIGNALBOX_MAIL_FROM: z.string().transform(readAs(readMailFrom, 'an email address, or Name <address>')).optional(),
  SIGNALBOX_MAX_ROUTERS_PER_TEAM: wholeNumber(20_000, 1, 1_000_000),
  SIGNALBOX_CATALOG_FILE: z.string().optional(),
  SIGNALBOX_CATALOG_IMAGES_URL: z.string().transform(readAs(readUrl, 'an http or https address')).optional(),
  SIGNALBOX_UPSTREAM_ISSUER: z.string().transform(readAs(readIssuer, 'an https address, exactly the issuer of the provider')).optional(),
  SIGNALBOX_UPSTREAM_CLIENT_ID: z.string().max(500).optional(),
  SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE: z.string().optional(),
  SIGNALBOX_UPSTREAM_NAME: z.string().max(50, 'must have at most 50 characters').optional(),
  SIGNALBOX_CORS_ORIGINS: z
    .string()
    .default('')
    .transform(readAs(readOrigins, 'web origins separated by commas, like https://app.example.net')),
  ...channelSettings,
  SIGNALBOX_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    })
    .default('info'),
});

type Checked = z.infer<typeof settingsSchema>;

export interface Config extends RetentionConfig {
  readonly listen: Readonly<ListenAddress>;
  /** Public address of the control plane, without a trailing slash. */
  readonly publicUrl: string;
  /** Null: the demonstration endpoint is off. */
  readonly sandboxListen: Readonly<ListenAddress> | null;
  readonly databaseUrl: string;
  /** Several control planes serve the database; null for this one alone. */
  readonly cluster: {
    readonly bus: BusAddress;
    /** How agents reach this one of them. */
    readonly nodeUrl: string;
    /** From the first `/readyz` that fails to the first agent that is sent away at a stop, milliseconds. */
    readonly drainMs: number;
  } | null;
  readonly forwards: {
    /** Host name in `entry_point`. */
    readonly host: string;
    /** Listen address of the entry ports. */
    readonly listen: string;
    readonly ports: { readonly first: number; readonly last: number };
    /** The TLS entry to all forwards by name. */
    readonly names: (Readonly<NameDomain> & { readonly listen: Readonly<ListenAddress> }) | null;
    /** Load balancers that send the client address by the PROXY protocol. */
    readonly proxies: readonly string[];
    /** Default idle limit of forwards; null for none. */
    readonly idleSeconds: number | null;
  };
  readonly secretKeyFile: string;
  readonly rateLimitPerMinute: number;
  readonly allowPrivateSources: boolean;
  readonly allowLoopbackWebhooks: boolean;
  /** Networks that notifications may be sent into although they are not public. */
  readonly notifyPrivate: readonly string[];
  /** Called while notifications are sent; null: nobody watches. */
  readonly heartbeatUrl: string | null;
  readonly trustProxy: boolean | readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Upstream OpenID provider for sign-in without a password. */
  readonly upstream: { readonly issuer: string; readonly clientId: string; readonly secretFile: string; readonly name: string } | null;
  /** Origins of other browser applications that may call the API. */
  readonly corsOrigins: readonly string[];
  readonly catalog: {
    /** File with the operator's product information. */
    readonly file: string | undefined;
    /** Base address of pictures: `<base>/<slug>/banner.png`. */
    readonly imagesUrl: string | undefined;
  };
  /** More are not taken in. */
  readonly maxRoutersPerTeam: number;
  /** The mail server for notifications; null without one. */
  readonly smtp: (SmtpServer & { passwordFile: string | null; from: MailSender }) | null;
  /** When a router may move to another agent of its team. */
  readonly routerMoves: { readonly free: boolean; readonly afterMs: number };
  readonly heartbeatMs: number;
  readonly offlineAfterMs: number;
  readonly logLevel: Checked['SIGNALBOX_LOG_LEVEL'];
  /** Accounts at providers of messages. */
  readonly channels: ChannelsConfig;
}

/** Relative paths in the YAML file start at its folder, those in the environment at the working directory. */
const FILE_NAMES = [
  'SIGNALBOX_SECRET_KEY_FILE',
  'SIGNALBOX_CATALOG_FILE',
  ...CHANNEL_FILES,
  'SIGNALBOX_TLS_CERT_FILE',
  'SIGNALBOX_TLS_KEY_FILE',
  'SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE',
  'SIGNALBOX_SMTP_PASSWORD_FILE',
];
/** Set all of these or none. */
const UPSTREAM_NAMES = ['SIGNALBOX_UPSTREAM_ISSUER', 'SIGNALBOX_UPSTREAM_CLIENT_ID', 'SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE'];
/** Settings with a meaning when empty; every other empty setting counts as not set. */
const MAY_BE_EMPTY = 'SIGNALBOX_SANDBOX_LISTEN';

/** Settings of the client (client/config.ts), which may be in the same environment. */
const OF_THE_CLIENT = ['SIGNALBOX_SERVER', 'SIGNALBOX_KEY'];

/** @throws AppError `invalid` whose `errors` names every mistake */
export async function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Promise<Config> {
  const { SIGNALBOX_CONFIG: file, ...own } = pickOwn(env);
  const fromFile = file === undefined ? {} : await readConfigFile(file);
  return checkConfig({ ...fromFile, ...own });
}

/** Validates values that are already read. @throws AppError `invalid` whose `errors` names every mistake */
export function checkConfig(values: RawValues): Config {
  const result = settingsSchema.safeParse(values);
  const mistakes = crossMistakes(values);
  for (const issue of result.error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') for (const name of issue.keys) add(mistakes, name, 'is not a setting');
    else add(mistakes, String(issue.path[0]), issue.message);
  }
  if (!result.success || Object.keys(mistakes).length > 0) throw configError(mistakes);
  return toConfig(result.data);
}

function pickOwn(values: Readonly<Record<string, string | undefined>>): RawValues {
  const own: RawValues = {};
  for (const [name, value] of Object.entries(values)) {
    if (!name.startsWith('SIGNALBOX_') || value === undefined || OF_THE_CLIENT.includes(name)) continue;
    if (value.trim() !== '' || name === MAY_BE_EMPTY) own[name] = value.trim();
  }
  return own;
}

async function readConfigFile(file: string): Promise<RawValues> {
  const folder = path.dirname(path.resolve(file));
  try {
    const document = z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .nullable()
      .parse(parseYaml(await readFile(file, 'utf8')));
    const texts = Object.entries(document ?? {}).map(([name, value]) => [name, String(value ?? '').trim()] as const);
    const given = texts.filter(([name, value]) => value !== '' || name === MAY_BE_EMPTY);
    return Object.fromEntries(given.map(([name, value]) => [name, fromFolder(folder, name, value)]));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? 'must have one value per name' : (cause as Error).message;
    throw configError({ SIGNALBOX_CONFIG: [`${file}: ${reason}`] }, cause);
  }
}

function fromFolder(folder: string, name: string, value: string): string {
  if (FILE_NAMES.includes(name)) return path.resolve(folder, value);
  const database = name === 'SIGNALBOX_DATABASE_URL' ? /^sqlite:(?!:memory:)(.+)$/.exec(value)?.[1] : undefined;
  return database === undefined ? value : `sqlite:${path.resolve(folder, database)}`;
}

/** Mistakes between values; checked even when single values are wrong, to report all at once. */
function crossMistakes(values: RawValues): FieldErrors {
  const mistakes: FieldErrors = channelMistakes(values);
  const { SIGNALBOX_TLS_CERT_FILE: cert, SIGNALBOX_TLS_KEY_FILE: key } = values;
  if (cert === undefined && key !== undefined) add(mistakes, 'SIGNALBOX_TLS_CERT_FILE', 'is needed with SIGNALBOX_TLS_KEY_FILE');
  if (cert !== undefined && key === undefined) add(mistakes, 'SIGNALBOX_TLS_KEY_FILE', 'is needed with SIGNALBOX_TLS_CERT_FILE');
  const given = UPSTREAM_NAMES.filter((name) => values[name] !== undefined);
  if (given.length > 0) for (const name of UPSTREAM_NAMES) if (!given.includes(name)) add(mistakes, name, `is needed with ${given[0]}`);
  const heartbeat = Number(values['SIGNALBOX_HEARTBEAT_SECONDS'] ?? 30);
  const offlineAfter = Number(values['SIGNALBOX_OFFLINE_AFTER_SECONDS'] ?? 75);
  if (offlineAfter <= heartbeat) add(mistakes, 'SIGNALBOX_OFFLINE_AFTER_SECONDS', 'must be more than SIGNALBOX_HEARTBEAT_SECONDS');
  for (const [name, reason] of clusterMistakes(values)) add(mistakes, name, reason);
  const { SIGNALBOX_FORWARD_DOMAIN: domain, SIGNALBOX_FORWARD_NAME_LISTEN: nameListen } = values;
  if (domain === undefined && nameListen !== undefined)
    add(mistakes, 'SIGNALBOX_FORWARD_DOMAIN', 'is needed with SIGNALBOX_FORWARD_NAME_LISTEN');
  if (domain !== undefined && nameListen === undefined)
    add(mistakes, 'SIGNALBOX_FORWARD_NAME_LISTEN', 'is needed with SIGNALBOX_FORWARD_DOMAIN');
  const mailNames = ['SIGNALBOX_SMTP_URL', 'SIGNALBOX_MAIL_FROM'];
  const mail = [...mailNames, 'SIGNALBOX_SMTP_PASSWORD_FILE'].filter((name) => values[name] !== undefined);
  if (mail.length > 0) for (const name of mailNames) if (!mail.includes(name)) add(mistakes, name, `is needed with ${mail[0]}`);
  if (isPlainToPublic(values))
    add(mistakes, 'SIGNALBOX_HEARTBEAT_URL', 'must be https; http needs an address in the networks of SIGNALBOX_NOTIFY_PRIVATE');
  const host = readListen(values['SIGNALBOX_LISTEN'] ?? '')?.host;
  if (host !== undefined && isWildcard(host) && values['SIGNALBOX_PUBLIC_URL'] === undefined) {
    add(mistakes, 'SIGNALBOX_PUBLIC_URL', 'is needed when SIGNALBOX_LISTEN is every address of this machine');
  }
  return mistakes;
}

function* clusterMistakes(values: RawValues): Generator<[name: string, reason: string]> {
  const { SIGNALBOX_BUS_URL: bus, SIGNALBOX_NODE_PUBLIC_URL: node, SIGNALBOX_DATABASE_URL: database = '' } = values;
  if (bus === undefined && node !== undefined) yield ['SIGNALBOX_BUS_URL', 'is needed with SIGNALBOX_NODE_PUBLIC_URL'];
  if (bus !== undefined && node === undefined) yield ['SIGNALBOX_NODE_PUBLIC_URL', 'is needed with SIGNALBOX_BUS_URL'];
  if (bus !== undefined && !database.startsWith('postgres'))
    yield ['SIGNALBOX_DATABASE_URL', 'must be postgres://… with SIGNALBOX_BUS_URL'];
}

/** The heartbeat goes the way of the notifications, which refuses http to public hosts. */
function isPlainToPublic(values: RawValues): boolean {
  const url = URL.parse(readPingUrl(values['SIGNALBOX_HEARTBEAT_URL'] ?? '') ?? '');
  const allowLoopback = values['SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS'] === 'on';
  const privateNetworks = readNetworks(values['SIGNALBOX_NOTIFY_PRIVATE'] ?? '') ?? [];
  return url?.protocol === 'http:' && !mayUsePlainHttp(url.hostname, { allowLoopback, privateNetworks });
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function add(mistakes: FieldErrors, name: string, reason: string): void {
  (mistakes[name] ??= []).push(reason);
}

function configError(mistakes: FieldErrors, cause?: unknown): AppError {
  const lines = Object.entries(mistakes).flatMap(([name, reasons]) => reasons.map((reason) => `  ${name} ${reason}`));
  return new AppError('invalid', `the configuration has mistakes:\n${lines.join('\n')}`, { errors: mistakes, cause });
}

function toConfig(checked: Checked): Config {
  const { SIGNALBOX_LISTEN: listen, SIGNALBOX_TLS_CERT_FILE: certFile, SIGNALBOX_TLS_KEY_FILE: keyFile } = checked;
  const tls = certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : null;
  const { SIGNALBOX_FORWARD_DOMAIN: domain, SIGNALBOX_FORWARD_NAME_LISTEN: nameListen } = checked;
  const host = net.isIPv6(listen.host) ? `[${listen.host}]` : listen.host;
  const publicUrl = checked.SIGNALBOX_PUBLIC_URL ?? `${tls ? 'https' : 'http'}://${host}:${listen.port}`;
  return deepFreeze({
    listen,
    publicUrl,
    sandboxListen: checked.SIGNALBOX_SANDBOX_LISTEN,
    databaseUrl: checked.SIGNALBOX_DATABASE_URL,
    cluster: clusterOf(checked),
    forwards: {
      host: checked.SIGNALBOX_FORWARD_HOST ?? new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''),
      // A control plane on a loopback address also binds its entry ports to loopback.
      listen: checked.SIGNALBOX_FORWARD_LISTEN ?? readAddress(listen.host) ?? '127.0.0.1',
      ports: checked.SIGNALBOX_FORWARD_PORTS,
      names: domain !== undefined && nameListen !== undefined ? { ...domain, listen: nameListen } : null,
      proxies: checked.SIGNALBOX_FORWARD_PROXIES ?? [],
      idleSeconds: checked.SIGNALBOX_FORWARD_IDLE_SECONDS || null,
    },
    secretKeyFile: checked.SIGNALBOX_SECRET_KEY_FILE,
    rateLimitPerMinute: checked.SIGNALBOX_RATE_LIMIT_PER_MINUTE,
    allowPrivateSources: checked.SIGNALBOX_ALLOW_PRIVATE_SOURCES,
    allowLoopbackWebhooks: checked.SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS,
    notifyPrivate: checked.SIGNALBOX_NOTIFY_PRIVATE ?? [],
    heartbeatUrl: checked.SIGNALBOX_HEARTBEAT_URL ?? null,
    trustProxy: checked.SIGNALBOX_TRUST_PROXY,
    tls,
    upstream: upstreamOf(checked),
    corsOrigins: checked.SIGNALBOX_CORS_ORIGINS,
    catalog: { file: checked.SIGNALBOX_CATALOG_FILE, imagesUrl: checked.SIGNALBOX_CATALOG_IMAGES_URL },
    maxRoutersPerTeam: checked.SIGNALBOX_MAX_ROUTERS_PER_TEAM,
    ...retentionOf(checked),
    smtp: smtpOf(checked),
    routerMoves: { free: checked.SIGNALBOX_ROUTER_MOVES === 'free', afterMs: checked.SIGNALBOX_ROUTER_MOVE_AFTER_SECONDS * 1000 },
    heartbeatMs: checked.SIGNALBOX_HEARTBEAT_SECONDS * 1000,
    offlineAfterMs: checked.SIGNALBOX_OFFLINE_AFTER_SECONDS * 1000,
    logLevel: checked.SIGNALBOX_LOG_LEVEL,
    channels: channelsOf(checked),
  });
}

function clusterOf(checked: Checked): Config['cluster'] {
  const { SIGNALBOX_BUS_URL: bus, SIGNALBOX_NODE_PUBLIC_URL: nodeUrl, SIGNALBOX_DRAIN_SECONDS: drainSeconds } = checked;
  return bus === undefined || nodeUrl === undefined ? null : { bus, nodeUrl, drainMs: drainSeconds * 1000 };
}

function upstreamOf(checked: Checked): Config['upstream'] {
  const {
    SIGNALBOX_UPSTREAM_ISSUER: issuer,
    SIGNALBOX_UPSTREAM_CLIENT_ID: clientId,
    SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE: secretFile,
  } = checked;
  if (issuer === undefined || clientId === undefined || secretFile === undefined) return null;
  return { issuer, clientId, secretFile, name: checked.SIGNALBOX_UPSTREAM_NAME ?? new URL(issuer).hostname };
}

function smtpOf(checked: Checked): Config['smtp'] {
  const { SIGNALBOX_SMTP_URL: server, SIGNALBOX_MAIL_FROM: from, SIGNALBOX_SMTP_PASSWORD_FILE: passwordFile } = checked;
  if (server === undefined || from === undefined) return null;
  return { ...server, passwordFile: passwordFile ?? null, from };
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part as object);
  return Object.freeze(value);
}
