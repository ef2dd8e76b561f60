import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import { nameServerResolver } from '../../../platform/outgoing/lookup.ts';
import { Poster } from '../../../platform/outgoing/poster.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { SecretFile } from '../channels/secret-file.ts';
import type { ContactsService } from '../contacts/service.ts';
import type { AuditLine } from '../leaving/acknowledging.ts';
import { LONG_BYTES, TelegramBot } from './bot.ts';
import { TelegramReader } from './reading/reader.ts';
import type { Proved } from './reading/take.ts';
import { READ_WITHIN_MS } from './reading/timing.ts';
import { TelegramLinks } from './service.ts';

export interface TelegramOptions {
  storage: Storage;
  clock: Clock;
  log: Log;
  secrets: Pick<Secrets, 'fingerprints'>;
  contacts: ContactsService;
  rules: AddressRules;
  /** The caller closes it. */
  poster: Pick<Poster, 'ask'>;
  /** The operator's bot; null without one. */
  account: { readonly apiUrl: string; readonly tokenFile: string } | null;
  audit: { record: (entry: AuditLine) => void };
}

/** Proof of Telegram chats. */
export interface Telegram {
  links: TelegramLinks;
  /** Undefined without a bot. */
  reader: TelegramReader | undefined;
  stop: () => Promise<void>;
}

export function createTelegram({ account, poster, rules, audit, ...own }: TelegramOptions): Telegram {
  if (account === null) {
    const links = new TelegramLinks({ ...own, bot: undefined, onLink: () => undefined });
    return { links, reader: undefined, stop: () => Promise.resolve() };
  }
  const { clock } = own;
  const longPoster = new Poster({ rules, resolve: nameServerResolver(), deadlineMs: READ_WITHIN_MS, maxAnswerBytes: LONG_BYTES });
  const times = { now: () => clock.now(), monotonic: () => clock.monotonic() };
  const bot = new TelegramBot({ poster, longPoster, ...times, apiUrl: account.apiUrl, token: new SecretFile(account.tokenFile) });
  const links = new TelegramLinks({ ...own, bot, onLink: () => reader.wake() });
  const onProved = (proved: Proved): void => audit.record(auditLineOf(proved));
  const reader = new TelegramReader({ ...own, links, bot, onProved });
  const stop = async (): Promise<void> => {
    await reader.stop();
    await longPoster.close();
  };
  return { links, reader, stop };
}

function auditLineOf({ teamId, userId, linkId, shown }: Proved): AuditLine {
  const actor = { team_id: teamId, actor_kind: 'user', actor_id: userId, source: 'telegram' };
  return { ...actor, action: 'proved chat by link', target: `/api/me/telegram-links/${linkId}`, result: 200, detail: `telegram ${shown}` };
}
