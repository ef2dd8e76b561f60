import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { loadConfig } from '../server/config.ts';
import { createChannels } from '../server/outbound/notifications/channels/create.ts';
import { EmailChannel } from '../server/outbound/notifications/channels/email/channel.ts';
import { sendTo } from '../server/outbound/notifications/channels/set.ts';
import type { Address, SendResult } from '../server/outbound/notifications/channels/types.ts';
import { writeText } from '../server/outbound/notifications/texts/write.ts';
import type { ThreadView } from '../server/outbound/notifications/texts/types.ts';
import { Poster } from '../server/platform/outgoing/poster.ts';
import { nameServerResolver } from '../server/platform/outgoing/lookup.ts';
import { endOf, reader, storm } from '../test/harness/notify/views.ts';
import { liveAddresses } from './notify-live/addresses.ts';

/**
 * Sends an outage of 812 routers and its end to real providers, by every channel for which the environment has an address: to be looked at by
 * hand before a release. The operator's accounts are those of `signalbox serve` (docs/settings.md).
 * Exit codes: 0 everything was taken, 1 something was not, 2 there is no address at all.
 */

const SEND_WITHIN_MS = 30_000;

const config = await loadConfig(process.env);
const rules = { allowLoopback: config.allowLoopbackWebhooks, privateNetworks: config.notifyPrivate };
const poster = new Poster({ rules, resolve: nameServerResolver(), deadlineMs: SEND_WITHIN_MS });
const channels = createChannels({ poster, now: Date.now, accounts: config.channels, smtp: config.smtp });

/** What was sent is about now, so that a provider takes it as news. */
const opening: ThreadView = { ...storm(), id: randomUUID(), firstAt: Date.now() - 25_000, at: Date.now(), url: config.publicUrl };
const story = [opening, endOf(opening, { endedAt: Date.now(), at: Date.now() })];

async function tell(address: Address): Promise<boolean> {
  const previousIds: string[] = [];
  let providerRef: string | undefined;
  for (const thread of story) {
    const id = randomUUID();
    const text = { ...writeText(thread, reader()), acknowledgeUrl: null };
    const message = {
      id,
      thread,
      text,
      previousIds: [...previousIds],
      isTest: false,
      ...(providerRef === undefined ? {} : { providerRef }),
    };
    const result = await sendTo(channels, message, address, AbortSignal.timeout(SEND_WITHIN_MS));
    process.stdout.write(`${address.channel.padEnd(10)} ${thread.kind.padEnd(8)} ${wordsOf(result)}\n`);
    if (result.outcome !== 'sent') return false;
    previousIds.push(id);
    providerRef ??= result.ref;
  }
  return true;
}

function wordsOf(result: SendResult): string {
  if (result.outcome === 'sent') return `sent${result.ref === undefined ? '' : `, the provider calls it ${result.ref}`}`;
  return result.outcome === 'stopped' ? 'stopped' : `${result.outcome}: ${result.error} ${result.detail}`;
}

let tried = 0;
let isFine = true;
for (const address of liveAddresses(process.env)) {
  if ('missing' in address) {
    process.stdout.write(`${address.channel.padEnd(10)} not tried: ${address.missing.join(', ')}\n`);
    continue;
  }
  tried += 1;
  isFine = (await tell(address)) && isFine;
}
if (channels.email instanceof EmailChannel) channels.email.close();
await poster.close();
process.exitCode = tried === 0 ? 2 : isFine ? 0 : 1;
