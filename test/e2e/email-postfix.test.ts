import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmailChannel } from '../../server/outbound/notifications/channels/email/channel.ts';
import type { SendResult } from '../../server/outbound/notifications/channels/types.ts';
import { startPostfix, hasPostfix } from '../harness/notify/postfix.ts';
import type { Postfix } from '../harness/notify/postfix.ts';
import { readMail } from '../harness/notify/read-mail.ts';
import { agentAway, endOf, HOSTILE_NAMES, messageOf, routerOffline, storm } from '../harness/notify/views.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Mails as a real mail server takes them and a real mailbox holds them. */

const never = new AbortController().signal;
const FROM = { name: 'Signalbox', address: 'alerts@example.com' };

describe.skipIf(!hasPostfix)('Postfix', () => {
  let postfix: Postfix;
  let channel: EmailChannel;
  beforeAll(async () => {
    postfix = await startPostfix({ mailboxes: ['ana', 'ben', 'storm', 'hostile'] });
    const smtp = { host: '127.0.0.1', port: postfix.port, implicitTls: false, user: null, passwordFile: null, from: FROM };
    channel = new EmailChannel({ smtp, now: Date.now });
  });
  afterAll(async () => {
    channel.close();
    await postfix.close();
  });

  const send = (message: Parameters<EmailChannel['send']>[0], to = 'ana@example.com'): Promise<SendResult> =>
    channel.send(message, { to }, never);
  const mails = (mailbox: string, count: number): Promise<string[]> =>
    waitUntil(`${count} mails for ${mailbox}`, async () => {
      const found = await postfix.mailsOf(mailbox);
      return found.length >= count && found;
    });

  test('delivers opening and end, in one thread', async () => {
    const opening = messageOf(agentAway(), { unsubscribeUrl: 'https://signalbox.example.com/unsubscribe/abc' });
    const end = messageOf(endOf(agentAway()), { previousIds: [opening.id] });
    expect(await send(opening)).toEqual({ outcome: 'sent' });
    await mails('ana', 1);
    expect(await send(end)).toEqual({ outcome: 'sent' });
    const [first, last] = (await mails('ana', 2)).map(readMail);
    expect(first!.headers).toMatchObject({
      from: 'Signalbox <alerts@example.com>',
      to: 'ana@example.com',
      subject: 'Depot Madrid: agent away since 08:31, 500 routers not visible',
      'message-id': `<${opening.id}@example.com>`,
      'auto-submitted': 'auto-generated',
      'list-unsubscribe': '<https://signalbox.example.com/unsubscribe/abc>',
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'content-type': expect.stringMatching(/^multipart\/alternative/),
    });
    expect(last!.headers['subject']).toBe('Over: Depot Madrid: agent was away from 08:31 to 08:44, 13 min');
    expect(last!.headers['in-reply-to']).toBe(first!.headers['message-id']);
    expect(last!.headers['references']).toContain(first!.headers['message-id']);
    expect(first!.parts.map(({ type }) => type)).toEqual(['text/plain', 'text/html']);
    expect(first!.parts[0]!.body).toContain('500 routers cannot be seen while the agent is away.');
  });

  test('takes a storm of 812 routers and umlauts', async () => {
    expect(await send(messageOf(storm(), { locale: 'de' }), 'storm@example.com')).toEqual({ outcome: 'sent' });
    const [mail] = (await mails('storm', 1)).map(readMail);
    expect(mail!.headers['subject']).toBe('37 Standorte, 812 Router betroffen seit 08:31 Uhr');
    expect(mail!.parts[0]!.body).toContain('- und 802 weitere');
    expect(mail!.parts[1]!.body).toContain('In Signalbox öffnen');
  });

  test('gets the same headers whatever routers are called', async () => {
    const names = HOSTILE_NAMES.slice(0, 14);
    for (const name of names) expect(await send(messageOf(routerOffline(name)), 'hostile@example.com')).toEqual({ outcome: 'sent' });
    const found = (await mails('hostile', names.length)).map(readMail);
    const expected = Object.keys(found[0]!.headers).toSorted();
    for (const { headers } of found) {
      expect(Object.keys(headers).toSorted()).toEqual(expected);
      expect(headers['to']).toBe('hostile@example.com');
      expect(headers).not.toHaveProperty('bcc');
    }
  });

  test('refuses a mailbox that does not exist, and this switches the address off', async () => {
    expect(await send(messageOf(agentAway()), 'nobody@example.com')).toEqual({
      outcome: 'never',
      error: 'gone',
      detail: expect.stringMatching(/^550 5\.1\.1 <•••>: Recipient address rejected/),
      addressOff: 'bounced',
    });
  });

  test('refuses to relay, which says nothing about the address', async () => {
    const result = await send(messageOf(agentAway()), 'ana@elsewhere.example');
    expect(result).toMatchObject({ outcome: 'never', error: 'refused', detail: expect.stringContaining('Relay access denied') });
    expect(result).not.toHaveProperty('addressOff');
  });

  test('a mail that is sent again has the same id, so that it can be recognised', async () => {
    const message = messageOf(agentAway());
    await send(message, 'ben@example.com');
    await send(message, 'ben@example.com');
    const [one, two] = (await mails('ben', 2)).map(readMail);
    expect(one!.headers['message-id']).toBe(two!.headers['message-id']);
  });
});
