import net from 'node:net';
import { z } from 'zod';
import { readEmailAddress } from './platform/core/email-address.ts';

/** Parsers of configuration values. Each returns undefined for an invalid text. */

export interface ListenAddress {
  host: string;
  /** 0: the system chooses a port. */
  port: number;
}

export interface NameDomain {
  domain: string;
  publicPort: number | undefined;
}

const ON = new Set(['on', 'true', 'yes', '1']);
const OFF = new Set(['off', 'false', 'no', '0']);

/** A schema from a parser that returns undefined for an invalid text. The text is never echoed: it may contain a secret. */
export function readAs<T>(read: (text: string) => T | undefined, expected: string) {
  return (text: string, context: z.RefinementCtx): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `must be ${expected}` });
    return z.NEVER;
  };
}

export function readFlag(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (ON.has(word)) return true;
  return OFF.has(word) ? false : undefined;
}

export function readListen(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && !net.isIPv6(host))) return undefined;
  return { host, port };
}

export function readPortRange(text: string): { first: number; last: number } | undefined {
  const match = /^([0-9]{1,5})-([0-9]{1,5})$/.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  return first >= 1 && last <= 65_535 && first <= last ? { first, last } : undefined;
}

/** On, off, or the addresses and networks of proxies whose X-Forwarded-For is trusted. */
export function readTrustProxy(text: string): boolean | string[] | undefined {
  return readFlag(text) ?? readNetworks(text);
}

/** Addresses and networks separated by commas. */
export function readNetworks(text: string): string[] | undefined {
  const networks = text.split(',').map((part) => part.trim());
  const valid = networks.every((network) => net.isIP(network) !== 0 || z.union([z.cidrv4(), z.cidrv6()]).safeParse(network).success);
  return valid ? networks : undefined;
}

/** A domain under which every forward has a name, with the clients' port if it differs from the listen port. */
export function readNameDomain(text: string): NameDomain | undefined {
  const match = /^((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::([0-9]{1,5}))?$/i.exec(text);
  const publicPort = match?.[2] === undefined ? undefined : Number(match[2]);
  // `<id>.` before it takes 37 of the 253 characters that a name may have.
  if (!match || match[1]!.length > 253 - 37 || publicPort === 0 || (publicPort ?? 0) > 65_535) return undefined;
  return { domain: match[1]!.toLowerCase(), publicPort };
}

export function readUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/$/, '');
}

/** An address that is called as it is, with its query. */
export function readPingUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  return url.href;
}

/** Issuer of an OpenID provider; kept unchanged, because tokens are compared with it character by character. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte. */
  implicitTls: boolean;
  user: string | null;
}

/** `smtp://user@host:587` or `smtps://user@host`. A password does not belong here: it has a file. */
export function readSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.parse(text);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '' || url.password !== '') return undefined;
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '') return undefined;
  const implicitTls = url.protocol === 'smtps:';
  // Submission (RFC 6409), and submission with implicit TLS (RFC 8314).
  const port = url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    implicitTls,
    user: url.username === '' ? null : decodeURIComponent(url.username),
  };
}

export interface MailSender {
  name: string;
  address: string;
}

/** `alerts@example.net` or `Signalbox <alerts@example.net>`. */
export function readMailFrom(text: string): MailSender | undefined {
  const [, name = 'Signalbox', inBrackets] = /^\s*([^<>\r\n]{1,100}?)\s*<([^<>]+)>\s*$/.exec(text) ?? [];
  const address = readEmailAddress((inBrackets ?? text).trim());
  return address === undefined ? undefined : { name, address };
}

export function readIssuer(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '') return undefined;
  const isHere = url.hostname === 'localhost' || url.hostname === '127.0.0.1' || url.hostname === '[::1]';
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? text : undefined;
}

export function readOrigins(text: string): string[] | undefined {
  const origins = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return origins.every((origin) => URL.parse(origin)?.origin === origin) ? origins : undefined;
}

export function readAddress(text: string): string | undefined {
  return net.isIP(text) === 0 ? undefined : text;
}

/** Where the servers of the bus between control planes are, and how to sign in there. */
export interface BusAddress {
  /** `host:port` each. */
  readonly servers: readonly string[];
  /** False: only over TLS. */
  readonly allowPlain: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const BUS_PORT = '4222';

/** `nats://a,b:4223` or `tls://user:password@a,b`: the scheme and the user of the first address hold for all. */
export function readBusUrl(text: string): BusAddress | undefined {
  const match = /^(nats|tls):\/\/([^,/?#]+(?:,[^,/?#@]+)*)$/.exec(text);
  if (!match) return undefined;
  const [first, ...others] = match[2]!.split(',').map((part) => URL.parse(`nats://${part.trim()}`));
  if (!first || first.hostname === '' || others.some((url) => !url || url.hostname === '')) return undefined;
  const [user, password] = [first.username, first.password].map((part) => (part === '' ? undefined : decodeURIComponent(part)));
  const servers = [first, ...others].map((url) => `${url!.hostname}:${url!.port || BUS_PORT}`);
  return { servers, allowPlain: match[1] === 'nats', user, password };
}

export function readDatabaseUrl(text: string): string | undefined {
  return /^(sqlite:.+|postgres(ql)?:\/\/.*)$/.test(text) ? text : undefined;
}

export function wholeNumber(fallback: number, least: number, most: number) {
  const read = (text: string): number | undefined => {
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
  return z
    .string()
    .default(String(fallback))
    .transform(readAs(read, `a whole number from ${least} to ${most}`));
}

export const flag = z.string().default('off').transform(readAs(readFlag, 'on or off'));
export const LISTEN_FORM = 'address:port, like 127.0.0.1:8080 or [::1]:8080';
