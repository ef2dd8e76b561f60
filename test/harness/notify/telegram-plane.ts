import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { SecretFile } from '../../../server/outbound/notifications/channels/secret-file.ts';
import type { ContactsService } from '../../../server/outbound/notifications/contacts/service.ts';
import { LONG_BYTES, TelegramBot } from '../../../server/outbound/notifications/telegram/bot.ts';
import { TelegramReader } from '../../../server/outbound/notifications/telegram/reading/reader.ts';
import type { Proved } from '../../../server/outbound/notifications/telegram/reading/take.ts';
import type { TelegramLinks } from '../../../server/outbound/notifications/telegram/service.ts';
import type { Clock } from '../../../server/platform/core/clock.ts';
import { Poster } from '../../../server/platform/outgoing/poster.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { RecordedLog } from '../recorded-log.ts';

/** The file in which the operator has the token of the bot. */
export class TokenFile {
  readonly file = path.join(mkdtempSync(path.join(inject('runFolder'), 'telegram-')), 'token');

  constructor(token: string) {
    this.write(token);
  }

  write(token: string): void {
    writeFileSync(this.file, `${token}\n`);
  }
}

export interface PlaneOptions {
  storage: Storage;
  clock: Clock;
  contacts: ContactsService;
  links: Pick<TelegramLinks, 'hashesOf'>;
  /** Of the stand-in. */
  apiUrl: string;
  token: TokenFile;
  readWithinMs?: number;
}

/** What one control plane has for reading what people write to the bot. */
export class TelegramPlane {
  readonly bot: TelegramBot;
  readonly reader: TelegramReader;
  readonly log = new RecordedLog();
  readonly proved: Proved[] = [];
  readonly #posters: readonly Poster[];
  #isDead = false;

  constructor(options: PlaneOptions) {
    const { clock, contacts, links, apiUrl, token, readWithinMs = 30_000 } = options;
    const rules = { allowLoopback: true };
    const poster = new Poster({ rules, resolve: async () => [], deadlineMs: 15_000 });
    const longPoster = new Poster({ rules, resolve: async () => [], deadlineMs: readWithinMs, maxAnswerBytes: LONG_BYTES });
    this.#posters = [poster, longPoster];
    const times = { now: () => clock.now(), monotonic: () => clock.monotonic() };
    this.bot = new TelegramBot({ poster, longPoster, ...times, apiUrl, token: new SecretFile(token.file) });
    const own = { clock, log: this.log, contacts, links, bot: this.bot };
    this.reader = new TelegramReader({ ...own, storage: this.#mortal(options.storage), onProved: (proved) => this.proved.push(proved) });
  }

  /** Nothing that it does from now on reaches the database, as after kill -9. */
  kill(): void {
    this.#isDead = true;
  }

  async stop(): Promise<void> {
    await this.reader.stop();
    await Promise.all(this.#posters.map((poster) => poster.close()));
  }

  #mortal(storage: Storage): Storage {
    const write: Storage['writes']['write'] = async (work) => {
      if (this.#isDead) throw new Error('killed');
      return storage.writes.write(work);
    };
    return { ...storage, writes: { write } };
  }
}
