import process from 'node:process';
import type { AddressBook } from '../../../server/outbound/notifications/messages/addresses.ts';
import { MessagesService } from '../../../server/outbound/notifications/messages/service.ts';
import { DEFAULT_SENDER_RULES } from '../../../server/outbound/notifications/messages/types.ts';
import { EmailChannel } from '../../../server/outbound/notifications/channels/email/channel.ts';
import type { Channels } from '../../../server/outbound/notifications/channels/set.ts';
import { WebhookChannel } from '../../../server/outbound/notifications/channels/webhook.ts';
import { ThreadsService } from '../../../server/outbound/notifications/threads/service.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { Poster } from '../../../server/platform/outgoing/poster.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { silentLog } from '../silent-log.ts';

/**
 * A process that decides and sends notifications of a database, and kills itself at one of its steps, as a power cut would:
 * `node pipeline-process.ts <PipelineOptions as JSON>`.
 */

export interface PipelineOptions {
  databaseUrl: string;
  /** Where everything goes. */
  to: { channel: 'webhook'; url: string } | { channel: 'email'; smtpPort: number; to: string };
  /** Number of the write at which it kills itself. */
  step: number;
  /** before: after the work of the write and before its commit. */
  when: 'before' | 'after' | 'never';
  /** Of its claims, milliseconds: others wait as long for what a killed process had claimed. An attempt may take two thirds of it. */
  leaseMs: number;
}

const { databaseUrl: url, to, step, when, leaseMs } = JSON.parse(process.argv[2] ?? '') as PipelineOptions;
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  // A signal to itself arrives at once.
  throw new Error('not reached');
};

const opened = await openStorage(url, { log: silentLog });
let writes = 0;
const storage: Storage = {
  ...opened,
  writes: {
    write: async (work) => {
      writes += 1;
      const isTheOne = writes === step;
      const result = await opened.writes.write(async (tx) => {
        const done = await work(tx);
        if (isTheOne && when === 'before') die();
        return done;
      });
      if (isTheOne && when === 'after') die();
      return result;
    },
  },
};
const target = { recipient: { type: 'target', id: 'target', channel: to.channel }, addressId: 'target' } as const;
const signing = { secrets: ['whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0'] };
const addresses: AddressBook = {
  plan: async (_tx, _teamId, occasions) =>
    occasions.map(() => [{ ...target, bucket: to.channel, quiet: null, digest: null, reason: null, shown: null }]),
  open: async () => ({ address: to.channel === 'email' ? { channel: 'email', to: to.to } : { ...to, ...signing }, addressId: 'target' }),
  otherWay: async () => undefined,
  switchOff: async () => false,
  followChat: async () => undefined,
};

const fast = { limits: { perSecond: 1000, burst: 1000 } };

function channels(): Channels {
  const now = (): number => systemClock.now();
  if (to.channel === 'email') {
    const from = { name: 'Signalbox', address: 'alerts@example.com' };
    const smtp = { host: '127.0.0.1', port: to.smtpPort, implicitTls: false, user: null, passwordFile: null, from };
    return { email: Object.assign(new EmailChannel({ smtp, now }), fast) };
  }
  const poster = new Poster({ rules: { allowLoopback: true }, resolve: async () => ['127.0.0.1'], deadlineMs: 10_000 });
  return { webhook: Object.assign(new WebhookChannel({ poster, now }), fast) };
}

const rules = { ...DEFAULT_SENDER_RULES, leaseMs, deadlineMs: Math.round((leaseMs * 2) / 3) };
const deps = { storage, clock: systemClock, log: silentLog };
const messages = new MessagesService({
  ...deps,
  addresses,
  channels: channels(),
  links: { acknowledgeUrl: () => 'https://signalbox.test/mail/acknowledge/x' },
  publicUrl: 'https://signalbox.test',
  rules,
});
const threads = new ThreadsService({
  ...deps,
  rules: { afterAgentMs: 60_000 },
  campaignOf: () => undefined,
  writeMessages: (...written) => messages.write(...written),
  digests: messages.digests,
  onMessages: () => messages.wake(),
});
threads.start();
messages.wake();
// The timers of the clock keep no process alive.
setInterval(() => undefined, 60_000);
