import { readFile } from 'node:fs/promises';
import { createTransport } from 'nodemailer';
import { readEmailAddress } from '../../../../platform/core/email-address.ts';
import { isLoopbackHost } from '../../../../platform/core/public-address.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from '../types.ts';
import { judgeSmtpError } from './judge-error.ts';
import { mailOf } from './mail.ts';
import type { Sender } from './mail.ts';

/** The operator's mail server. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the first byte (smtps), not by STARTTLS. */
  implicitTls: boolean;
  user: string | null;
  passwordFile: string | null;
  from: Sender;
}

export interface EmailDeps {
  smtp: SmtpSettings;
  now: () => number;
  /** A whole attempt with its wait for a connection, milliseconds. Shorter than the claim of a message. */
  deadlineMs?: number;
}

const DEADLINE_MS = 45_000;
/** Small relays allow ten connections from one address or fewer. */
const MAX_CONNECTIONS = 3;
/** A relay that checks a mail for viruses answers within this; the wait for a mail ends then. */
const SILENCE_MS = 30_000;
const CONNECT_MS = 15_000;
/** How long an idle connection is kept. Postfix ends one after five minutes. */
const IDLE_MS = 60_000;

/**
 * Email through the operator's server. The connection is encrypted unless the server is on this machine; nodemailer keeps up to three
 * connections and repeats nothing by itself.
 */
export class EmailChannel implements Channel<'email'> {
  readonly name = 'email';
  readonly limits = { perSecond: 10, burst: 30 };
  readonly #deps: EmailDeps;
  #transport: ReturnType<typeof makeTransport> | undefined;

  constructor(deps: EmailDeps) {
    this.#deps = deps;
  }

  bucketOf(): string {
    return 'email';
  }

  async send(message: OutgoingMessage, { to }: AddressOf<'email'>, signal: AbortSignal): Promise<SendResult> {
    const address = readEmailAddress(to);
    if (address === undefined) return { outcome: 'never', error: 'refused', detail: 'not an email address', addressOff: 'bounced' };
    const { smtp, now, deadlineMs = DEADLINE_MS } = this.#deps;
    const password = await readPassword(smtp.passwordFile);
    if (password instanceof Error) return { outcome: 'config', error: 'password_unreadable', detail: '' };
    const transport = this.#transportWith(password);
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const { name, address: from } = smtp.from;
      await transport.sendMail({
        ...mailOf(message, smtp.from, now()),
        from: { name, address: from },
        to: { name: '', address },
        envelope: { from, to: [address] },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.any([signal, deadline]),
      });
      return { outcome: 'sent' };
    } catch (error) {
      if (signal.aborted) return { outcome: 'stopped' };
      if (deadline.aborted) return { outcome: 'retry', error: 'timed_out', detail: '' };
      return judgeSmtpError(error, address);
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#transport?.pool.close();
    this.#transport = undefined;
  }

  /** The kept connections, unless the password has changed since they were made. */
  #transportWith(password: string | null): ReturnType<typeof makeTransport>['pool'] {
    if (this.#transport?.password !== password) this.close();
    this.#transport ??= makeTransport(this.#deps.smtp, password);
    return this.#transport.pool;
  }
}

function makeTransport(smtp: SmtpSettings, password: string | null) {
  return { password, pool: createTransport(transportOptions(smtp, password)) };
}

/** What nodemailer is told about the server. */
export function transportOptions({ host, port, implicitTls, user }: SmtpSettings, password: string | null) {
  const isHere = isLoopbackHost(host);
  return {
    pool: true as const,
    host,
    port,
    secure: implicitTls,
    // A mail must not go through a network unencrypted, whoever removes STARTTLS from the server's list. On this machine nobody is between.
    requireTLS: !isHere,
    ignoreTLS: isHere,
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    maxConnections: MAX_CONNECTIONS,
    // The outbox repeats, and counts.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  };
}

/** Read for each mail: a new password works without a restart. */
async function readPassword(file: string | null): Promise<string | null | Error> {
  if (file === null) return null;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    return error as Error;
  }
}
