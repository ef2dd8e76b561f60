import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EmailChannel } from '../../server/outbound/notifications/channels/email/channel.ts';
import type { SmtpSettings } from '../../server/outbound/notifications/channels/email/channel.ts';
import type { SendResult } from '../../server/outbound/notifications/channels/types.ts';
import { hasFaultySmtp, startFaultySmtp } from '../harness/notify/faulty-smtp.ts';
import type { FaultySmtp } from '../harness/notify/faulty-smtp.ts';
import { freePort } from '../harness/notify/postfix.ts';
import { agentAway, messageOf } from '../harness/notify/views.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** What the email channel makes of a mail server's faults. */

const never = new AbortController().signal;

describe.skipIf(!hasFaultySmtp)('a mail server with faults', () => {
  let server: FaultySmtp;
  let channels: EmailChannel[] = [];
  beforeAll(async () => {
    server = await startFaultySmtp();
  });
  afterAll(() => server.close());
  afterEach(() => {
    for (const channel of channels) channel.close();
    channels = [];
  });

  function channelTo(port: number, changes: Partial<SmtpSettings> = {}, deadlineMs = 20_000): EmailChannel {
    const from = { name: 'Signalbox', address: 'alerts@example.com' };
    const smtp = { host: '127.0.0.1', port, implicitTls: false, user: null, passwordFile: null, from, ...changes };
    const channel = new EmailChannel({ smtp, now: Date.now, deadlineMs });
    channels.push(channel);
    return channel;
  }
  const send = (to: string, channel = channelTo(server.port), signal = never): Promise<SendResult> =>
    channel.send(messageOf(agentAway()), { to: `${to}@example.com` }, signal);

  test.each<[string, SendResult]>([
    ['fine', { outcome: 'sent' }],
    ['r421', { outcome: 'retry', error: 'unavailable', detail: '421 4.3.2 Service shutting down' }],
    ['r450', { outcome: 'retry', error: 'refused', detail: '450 4.2.1 Mailbox busy' }],
    ['r550', { outcome: 'never', error: 'gone', detail: '550 5.1.1 No such user here', addressOff: 'bounced' }],
    ['r550-plain', { outcome: 'never', error: 'gone', detail: '550 no such user', addressOff: 'bounced' }],
    ['r550-policy', { outcome: 'never', error: 'refused', detail: '550 5.7.1 Relay access denied' }],
    ['r552', { outcome: 'never', error: 'too_large', detail: '552 5.2.2 Mailbox full' }],
    ['d451', { outcome: 'retry', error: 'refused', detail: '451 4.3.0 Local error in processing' }],
    ['d552', { outcome: 'never', error: 'too_large', detail: '552 5.3.4 Message too big for system' }],
  ])('%s', async (to, result) => {
    expect(await send(to)).toEqual(result);
  });

  test('greylisting is tried again, and the second attempt arrives', async () => {
    expect(await send('r451')).toMatchObject({ outcome: 'retry', error: 'refused', detail: '451 4.7.1 Greylisted, try again later' });
    expect(await send('r451')).toEqual({ outcome: 'sent' });
  });

  test('silence after DATA ends at the deadline, and blocks nobody else', async () => {
    const channel = channelTo(server.port, {}, 1500);
    const silent = Promise.all([send('silent', channel), send('silent', channel)]);
    expect(await send('fine', channel)).toEqual({ outcome: 'sent' });
    expect(await silent).toEqual([
      { outcome: 'retry', error: 'timed_out', detail: '' },
      { outcome: 'retry', error: 'timed_out', detail: '' },
    ]);
    expect(await send('fine', channel)).toEqual({ outcome: 'sent' });
  });

  test('a connection dropped after the final dot is sent once by us: repeating is the outbox’s, with the same Message-ID', async () => {
    expect(await send('dropped')).toMatchObject({ outcome: 'retry', error: 'connection_lost' });
    expect(await send('dropped')).toMatchObject({ outcome: 'retry', error: 'connection_lost' });
    // The server's report of a mail of the test before may come only now.
    const attempts = await waitUntil('both attempts were read', () => {
      const dropped = server.accepted.filter(({ to }) => to.includes('dropped@example.com'));
      return dropped.length === 2 && dropped;
    });
    const ids = attempts.map(({ data }) => /^message-id: (.*)$/im.exec(data)?.[1]);
    expect(ids[0]).toBe(`<${messageOf(agentAway()).id}@example.com>`);
    expect(ids[1]).toBe(ids[0]);
  });

  test('a sender that the server refuses is a matter of the configuration', async () => {
    const channel = channelTo(server.port, { from: { name: 'Signalbox', address: 'refused@example.com' } });
    expect(await send('fine', channel)).toMatchObject({ outcome: 'config', error: 'refused' });
  });

  test('an attempt is stopped with the process', async () => {
    const stop = new AbortController();
    const result = send('silent', channelTo(server.port), stop.signal);
    stop.abort();
    expect(await result).toEqual({ outcome: 'stopped' });
  });

  test('a server that is not there', async () => {
    expect(await send('fine', channelTo(await freePort()))).toMatchObject({ outcome: 'retry', error: 'connect_failed' });
  });

  test('wrong credentials pause the account, and a new password works without a restart', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-smtp-'));
    const secured = await startFaultySmtp({ login: true });
    const passwordFile = path.join(folder, 'password');
    try {
      await writeFile(passwordFile, 'wrong password\n');
      const channel = channelTo(secured.port, { user: 'alerts', passwordFile });
      expect(await send('fine', channel)).toMatchObject({
        outcome: 'config',
        error: 'unauthorized',
        detail: expect.stringMatching(/^535/),
      });
      await writeFile(passwordFile, 'right password\n');
      expect(await send('fine', channel)).toEqual({ outcome: 'sent' });
    } finally {
      await secured.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
