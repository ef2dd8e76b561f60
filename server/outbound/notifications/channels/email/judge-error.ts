import { cleanText } from '../../../../../routeros-text/router-text.ts';
import { MAX_DETAIL_CHARS } from '../types.ts';
import type { SendError, SendResult } from '../types.ts';

/** What nodemailer says about a failed attempt. */
interface SmtpError {
  code: string;
  /** The system's own: "ECONNREFUSED". */
  originalCode: string;
  /** "RCPT TO", "DATA", "AUTH PLAIN" … */
  command: string;
  /** The reply of the server, and its code: "550 5.1.1 No such user". */
  response: string;
  responseCode: number | undefined;
}

/** Errors without a reply of the server. */
const CONNECTION: Record<string, SendError> = {
  EDNS: 'name_not_found',
  ECONNECTION: 'connection_lost',
  ESOCKET: 'connection_lost',
  ESTREAM: 'connection_lost',
  ETIMEDOUT: 'timed_out',
  ETLS: 'tls_failed',
  EPROTOCOL: 'answer_invalid',
};

/** What the system says about a connection that was never made. */
const SYSTEM: Record<string, SendError> = { ECONNREFUSED: 'connect_failed', EHOSTUNREACH: 'connect_failed', ENETUNREACH: 'connect_failed' };

/** RFC 3463: the mailbox or its domain does not exist (5.1.x), or is switched off (5.2.1). Other refusals are about this message. */
const NO_MAILBOX = /^5\d\d[ -]5\.(?:1\.\d{1,3}|2\.1)\b/;
/** Codes of RFC 5321 that say the same, for servers that send no enhanced ones: no such mailbox, not local, name not allowed. */
const NO_MAILBOX_CODES: ReadonlySet<number> = new Set([550, 551, 553]);

/**
 * Sorts a failed attempt by the server's reply: 4xx later, 5xx never, refused credentials or sender are the operator's. Only the reply to
 * RCPT says something about the address; "relay access denied" and other policy (5.7.x) does not.
 * @param to the recipient. Servers repeat it, and every viewer of the team reads the detail: it is taken out.
 */
export function judgeSmtpError(thrown: unknown, to: string): SendResult {
  const { code, originalCode, command, response, responseCode } = read(thrown);
  // Before it is cut: a part of an address is one, too.
  const detail = cleanText(withoutRecipient(response, to), MAX_DETAIL_CHARS);
  if (responseCode === undefined || responseCode < 400) {
    if (code === 'ENOAUTH') return { outcome: 'config', error: 'unauthorized', detail };
    return { outcome: 'retry', error: SYSTEM[originalCode] ?? CONNECTION[code] ?? 'connection_lost', detail };
  }
  if (responseCode < 500) return { outcome: 'retry', error: responseCode === 421 ? 'unavailable' : 'refused', detail };
  if (code === 'EAUTH' || command.startsWith('AUTH') || responseCode === 530 || responseCode === 535) {
    return { outcome: 'config', error: 'unauthorized', detail };
  }
  // Every mail has the same sender: the account may not use it.
  if (command === 'MAIL FROM') return { outcome: 'config', error: 'refused', detail };
  if (command === 'STARTTLS' || code === 'ETLS') return { outcome: 'config', error: 'tls_failed', detail };
  if (command === 'RCPT TO' && isNoMailbox(response, responseCode))
    return { outcome: 'never', error: 'gone', detail, addressOff: 'bounced' };
  return { outcome: 'never', error: responseCode === 552 ? 'too_large' : 'refused', detail };
}

/** Some servers repeat the whole address, some only what stands before the @. */
function withoutRecipient(response: string, to: string): string {
  const whole = new RegExp(literal(to), 'giu');
  const local = new RegExp(String.raw`(?<![\p{L}\p{N}])${literal(to.slice(0, to.lastIndexOf('@')))}(?![\p{L}\p{N}])`, 'giu');
  return response.replace(whole, '•••').replace(local, '•••');
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function isNoMailbox(response: string, responseCode: number): boolean {
  const hasEnhancedCode = /^5\d\d[ -]5\.\d{1,3}\.\d{1,3}\b/.test(response);
  return hasEnhancedCode ? NO_MAILBOX.test(response) : NO_MAILBOX_CODES.has(responseCode);
}

function read(thrown: unknown): SmtpError {
  const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Partial<Record<keyof SmtpError | 'message', unknown>>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    code: text(error.code),
    originalCode: text(error.originalCode),
    command: text(error.command),
    response: text(error.response),
    responseCode: typeof error.responseCode === 'number' ? error.responseCode : undefined,
  };
}
