import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEmailAddress } from '../../../server/platform/core/email-address.ts';
import { EmailChannel, transportOptions } from '../../../server/outbound/notifications/channels/email/channel.ts';
import type { SmtpSettings } from '../../../server/outbound/notifications/channels/email/channel.ts';
import { escapeHtml, MAX_HTML_BYTES, renderHtml } from '../../../server/outbound/notifications/channels/email/html.ts';
import { judgeSmtpError } from '../../../server/outbound/notifications/channels/email/judge-error.ts';
import { mailOf } from '../../../server/outbound/notifications/channels/email/mail.ts';
import { MAX_DETAIL_CHARS } from '../../../server/outbound/notifications/channels/types.ts';
import type { SendResult } from '../../../server/outbound/notifications/channels/types.ts';
import { ACKNOWLEDGE_URL, agentAway, endOf, FIRST_AT, HOSTILE_NAMES, messageOf, named, storm, viewOf } from '../../harness/notify/views.ts';

const FROM = { name: 'Signalbox', address: 'alerts@example.com' };
const SMTP: SmtpSettings = { host: 'mail.example.com', port: 587, implicitTls: false, user: null, passwordFile: null, from: FROM };

describe('an address', () => {
  test.each([
    ['ana@example.com', 'ana@example.com'],
    ['Ana.Ruiz+alerts@Example.COM', 'Ana.Ruiz+alerts@example.com'],
    ['ana@bücher.example', 'ana@xn--bcher-kva.example'],
    ["o'neil@mail.example.co.uk", "o'neil@mail.example.co.uk"],
  ])('%s is taken', (text, address) => {
    expect(readEmailAddress(text)).toBe(address);
  });

  test.each([
    '',
    'ana',
    '@example.com',
    'ana@',
    'ana@localhost',
    'ana@example',
    'ana@10.0.0.1',
    'ana@[10.0.0.1]',
    '"ana ruiz"@example.com',
    'Ana <ana@example.com>',
    'ana@example.com, eve@example.com',
    'group: ana@example.com;',
    'ana@example.com\r\nRCPT TO:<eve@example.com>',
    'ana@exam ple.com',
    '.ana@example.com',
    'ana.@example.com',
    'a..na@example.com',
    'ana@-example.com',
    'ana@example..com',
    'añá@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ana@${'a.'.repeat(130)}com`,
    'ana@eve@example.com',
    'ana@example.com%00',
  ])('%j is refused', (text) => {
    expect(readEmailAddress(text)).toBeUndefined();
  });
});

describe('a reply of the server', () => {
  const error = (response: string, command: string, code = 'EENVELOPE'): object => ({
    code,
    command,
    response,
    responseCode: Number(response.slice(0, 3)),
  });
  test.each<[object, Partial<SendResult>]>([
    [error('421 4.3.2 Service shutting down', 'RCPT TO'), { outcome: 'retry', error: 'unavailable' }],
    [error('450 4.2.1 Mailbox busy', 'RCPT TO'), { outcome: 'retry', error: 'refused' }],
    [error('451 4.7.1 Greylisted', 'RCPT TO'), { outcome: 'retry', error: 'refused' }],
    [error('452 4.3.1 Out of space', 'DATA', 'EMESSAGE'), { outcome: 'retry', error: 'refused' }],
    [error('454 4.7.0 Temporary authentication failure', 'AUTH PLAIN', 'EAUTH'), { outcome: 'retry' }],
    [error('550 5.1.1 No such user', 'RCPT TO'), { outcome: 'never', error: 'gone', addressOff: 'bounced' }],
    [error('550 no such user', 'RCPT TO'), { outcome: 'never', error: 'gone', addressOff: 'bounced' }],
    [error('550 5.2.1 Mailbox disabled', 'RCPT TO'), { outcome: 'never', addressOff: 'bounced' }],
    [error('535 5.7.8 Authentication failed', 'AUTH PLAIN', 'EAUTH'), { outcome: 'config', error: 'unauthorized' }],
    [error('530 5.7.0 Must issue a STARTTLS command first', 'MAIL FROM'), { outcome: 'config', error: 'unauthorized' }],
    [error('553 5.7.1 Sender address rejected', 'MAIL FROM'), { outcome: 'config', error: 'refused' }],
    [
      { code: 'ECONNECTION', command: 'CONN' },
      { outcome: 'retry', error: 'connection_lost' },
    ],
    [
      { code: 'ETIMEDOUT', command: 'CONN' },
      { outcome: 'retry', error: 'timed_out' },
    ],
    [
      { code: 'EDNS', command: 'CONN' },
      { outcome: 'retry', error: 'name_not_found' },
    ],
    [
      { code: 'ETLS', command: 'CONN' },
      { outcome: 'retry', error: 'tls_failed' },
    ],
    [new Error('something else'), { outcome: 'retry', error: 'connection_lost' }],
    [undefined as unknown as object, { outcome: 'retry', error: 'connection_lost' }],
  ])('%j', (thrown, result) => {
    expect(judgeSmtpError(thrown, 'ana@example.com')).toMatchObject(result);
  });

  test.each([
    error('550 5.7.1 Relay access denied', 'RCPT TO'),
    error('552 5.2.2 Mailbox full', 'RCPT TO'),
    error('554 5.7.1 Rejected by policy', 'DATA', 'EMESSAGE'),
  ])('%j says nothing about the address', (thrown) => {
    const result = judgeSmtpError(thrown, 'ana@example.com');
    expect(result.outcome).toBe('never');
    expect(result).not.toHaveProperty('addressOff');
  });

  test.each([
    ['alice@private.example', '550 5.1.1 <Alice@Private.Example>: Recipient rejected', '550 5.1.1 <•••>: Recipient rejected'],
    ['alice@private.example', '550 5.1.1 User alice unknown in malice table', '550 5.1.1 User ••• unknown in malice table'],
    ['a.b+c@private.example', '550 5.1.1 No such user: A.B+C', '550 5.1.1 No such user: •••'],
    ['alice@private.example', `550 5.1.1 ${'x'.repeat(MAX_DETAIL_CHARS - 16)} alice@private.example`, expect.not.stringContaining('alice')],
  ])('%s does not stand in the log: %s', (to, response, detail) => {
    expect(judgeSmtpError(error(response, 'RCPT TO'), to)).toMatchObject({ error: 'gone', detail });
  });
});

describe('the connection', () => {
  test('is encrypted, unless the server is on this machine', () => {
    expect(transportOptions(SMTP, null)).toMatchObject({ requireTLS: true, ignoreTLS: false, secure: false });
    expect(transportOptions({ ...SMTP, implicitTls: true, port: 465 }, null)).toMatchObject({ secure: true });
    for (const host of ['127.0.0.1', 'localhost', '::1']) {
      expect(transportOptions({ ...SMTP, host }, null)).toMatchObject({ requireTLS: false, ignoreTLS: true });
    }
    expect(transportOptions({ ...SMTP, host: 'localhost.example.com' }, null)).toMatchObject({ requireTLS: true });
  });

  test('has credentials only if a user is set, and nothing is repeated by the library', () => {
    expect(transportOptions(SMTP, null)).not.toHaveProperty('auth');
    expect(transportOptions({ ...SMTP, user: 'alerts' }, 'secret')).toMatchObject({ auth: { user: 'alerts', pass: 'secret' } });
    expect(transportOptions(SMTP, null).maxRequeues).toBe(0);
  });

  test('needs the password file', async () => {
    const channel = new EmailChannel({ smtp: { ...SMTP, user: 'alerts', passwordFile: '/nowhere/password' }, now: () => FIRST_AT });
    const result = await channel.send(messageOf(agentAway()), { to: 'ana@example.com' }, new AbortController().signal);
    expect(result).toEqual({ outcome: 'config', error: 'password_unreadable', detail: '' });
  });
});

describe('a mail', () => {
  const UNSUBSCRIBE = 'https://signalbox.example.com/unsubscribe/abc';

  test('has the id of its message and stands in its thread', () => {
    const opening = messageOf(agentAway());
    const end = messageOf(endOf(agentAway()), { previousIds: [opening.id] });
    const first = mailOf(opening, FROM, FIRST_AT);
    const last = mailOf(end, FROM, FIRST_AT);
    expect(first.messageId).toBe(`<${opening.id}@example.com>`);
    expect(mailOf(opening, FROM, FIRST_AT + 60_000).messageId).toBe(first.messageId);
    const root = `<thread.${opening.thread.id}@example.com>`;
    expect(first).toMatchObject({ inReplyTo: root, references: [root] });
    expect(last).toMatchObject({ inReplyTo: first.messageId, references: [root, first.messageId] });
  });

  test('can be unsubscribed from by one POST, and asks for no automatic answers', () => {
    expect(mailOf(messageOf(agentAway(), { unsubscribeUrl: UNSUBSCRIBE }), FROM, FIRST_AT).headers).toEqual({
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': 'Signalbox <notifications.example.com>',
      'List-Unsubscribe': `<${UNSUBSCRIBE}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(mailOf(messageOf(agentAway()), FROM, FIRST_AT).headers).not.toHaveProperty('List-Unsubscribe');
  });

  test('as text has sentences, list, link and reason', () => {
    const { text } = mailOf(messageOf(storm(), { unsubscribeUrl: UNSUBSCRIBE }), FROM, FIRST_AT);
    expect(text.split('\n')).toEqual([
      '37 sites, 812 routers affected since 08:31.',
      'The first was Depot Madrid.',
      '',
      ...Array.from({ length: 10 }, (_, index) => `- Depot ${index + 1}: ${60 - index} routers`),
      '- and 802 more',
      '',
      `Open in Signalbox: ${storm().url}`,
      `I take it over: ${ACKNOWLEDGE_URL}`,
      '',
      '-- ',
      'You get this because the notification group On call of the team Northwind names you.',
      `Unsubscribe: ${UNSUBSCRIBE}`,
      '',
    ]);
  });
});

describe('the HTML of a mail', () => {
  const html = (...args: Parameters<typeof messageOf>): string => {
    const { text, unsubscribeUrl } = messageOf(...args);
    return renderHtml({ text, unsubscribeUrl });
  };

  test('is small, has one column and loads nothing', () => {
    const mail = html(storm(), { unsubscribeUrl: 'https://signalbox.example.com/unsubscribe/abc' });
    expect(Buffer.byteLength(mail)).toBeLessThan(10_000);
    expect(mail).not.toMatch(/<table|<img|<script|<link|url\(|@import|src=/i);
    expect(mail).toContain('prefers-color-scheme:dark');
    expect(mail.match(/href="[^"]*"/g)).toEqual([
      `href="${storm().url}"`,
      `href="${ACKNOWLEDGE_URL}"`,
      'href="https://signalbox.example.com/unsubscribe/abc"',
    ]);
  });

  test('is below its limit with the longest names there are', () => {
    const long = '<&"\'>'.repeat(100);
    const item = { text: long, router: named(long), site: named(long), openedAt: FIRST_AT, resolvedAt: null };
    const view = viewOf(
      { type: 'router', router: named(long), site: named(long), fault: 'wan_down', detail: long },
      { items: Array.from({ length: 50 }, () => item), itemCount: 812, team: long, acknowledgedBy: long },
    );
    expect(Buffer.byteLength(html(view))).toBeLessThan(MAX_HTML_BYTES);
    expect(html(view)).toContain('and 80');
  });

  test('has only our own elements and links, whatever routers are called', () => {
    const shape = (mail: string): string[] => mail.match(/<[^>]*>/g) ?? [];
    const withName = (name: string): string =>
      html(
        viewOf(
          { type: 'router', router: named(name), site: named(name), fault: 'wan_down', detail: `x${name}` },
          { team: name, acknowledgedBy: name },
        ),
      );
    const harmless = shape(withName('core-1'));
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string({ unit: 'binary', maxLength: 100 })), (name) => {
        expect(shape(withName(name))).toEqual(harmless);
      }),
    );
  });

  test('escapes what HTML reads', () => {
    expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;');
  });
});

test('nodemailer is the version whose behaviour was read', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(dependencies['nodemailer']).toBe('10.6.0');
});
