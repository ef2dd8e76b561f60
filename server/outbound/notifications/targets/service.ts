import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import { newId } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { notConfigured } from '../channels/offer.ts';
import { bucketOfAddress, sendTo } from '../channels/set.ts';
import type { Channels } from '../channels/set.ts';
import type { Address, SendResult } from '../channels/types.ts';
import { proofMessage } from '../proofs/message.ts';
import type { AddressProofs } from '../proofs/service.ts';
import { ADDRESS_PURPOSE } from '../proofs/types.ts';
import { identityOf, readAddress, showAddress } from './read-address.ts';
import {
  countTargets,
  deleteTarget,
  insertTarget,
  moveTarget,
  isUnique,
  lockTeam,
  selectActorName,
  selectTarget,
  selectTargets,
  selectTargetsById,
  selectTeamName,
  setTargetOff,
  setTargetProved,
  updateTarget,
} from './store.ts';
import type { SettingChange } from '../types.ts';
import type { NewTarget, StoredTarget, Target, TargetAddress, TargetChange } from './types.ts';

/** A channel for each site of a large team. */
export const MAX_TARGETS = 200;
/** The test message: a person waits for the answer. Longer than a request may take, which says why it failed. */
const SEND_WITHIN_MS = 20_000;

export interface TargetsDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText' | 'fingerprints'>;
  proofs: AddressProofs;
  channels: Channels;
  rules: AddressRules;
  /** The secrets that sign the team's webhooks. */
  signing: (teamId: string) => Promise<readonly string[]>;
  /** Address of the web application. */
  publicUrl: string;
}

/** Outcome of a test message with a code. */
export interface SentCode {
  result: SendResult;
  expiresAt: number;
}

/** Addresses of a team that are nobody's own: chat channels, webhooks, keys of alarm services. Nothing is sent to one that is not proved. */
export class TargetsService {
  /** Without those that a receiver has switched off: that comes with a change of messages. */
  readonly changes = new Listeners<SettingChange>();
  readonly #deps: TargetsDeps;

  constructor(deps: TargetsDeps) {
    this.#deps = deps;
  }

  async list(teamId: string, page: Page): Promise<Target[]> {
    return selectTargets(this.#deps.storage.db, teamId, page);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, targetId: string): Promise<StoredTarget> {
    const target = await selectTarget(this.#deps.storage.db, teamId, targetId);
    if (!target) throw notFound('notification target');
    return target;
  }

  /** @throws AppError `invalid` for an unfit address; `conflict` for a name in use, or too many targets */
  async create(teamId: string, { name, channel, address: given }: NewTarget): Promise<Target> {
    const { storage, clock, rules } = this.#deps;
    const now = clock.now();
    const id = newId(now);
    const address = readAddress(channel, given, rules);
    const sealed = await this.#seal(id, address);
    const times = { verifiedAt: null, offReason: null, offAt: null, createdAt: now, updatedAt: now };
    const target: StoredTarget = { id, teamId, name, channel, ...sealed, ...times };
    await storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countTargets(tx, teamId)) >= MAX_TARGETS)
        throw new AppError('conflict', `a team has at most ${MAX_TARGETS} notification targets`);
      await insertTarget(tx, target).catch(nameInUse);
    });
    this.#tell('created', target);
    return target;
  }

  /** A new address must be proved again. @throws AppError like {@link create}, and `not_found` */
  async change(teamId: string, targetId: string, { name, address: given }: TargetChange): Promise<Target> {
    const { storage, clock, rules } = this.#deps;
    const { id, channel } = await this.get(teamId, targetId);
    const address = given && (await this.#seal(id, readAddress(channel, given, rules)));
    const updatedAt = clock.now();
    const changed = await updateTarget(storage.db, { teamId, id }, { name, address, updatedAt }).catch(nameInUse);
    if (!changed) throw notFound('notification target');
    this.#tell('updated', changed);
    return changed;
  }

  /** Also removes it from every group. @throws AppError `not_found` */
  async delete(teamId: string, targetId: string): Promise<void> {
    if (!(await deleteTarget(this.#deps.storage.db, { teamId, id: targetId }))) throw notFound('notification target');
    this.changes.publish({ kind: 'removed', teamId, id: targetId });
  }

  /**
   * Sends a message with a code to the target. Who can type it in reads what arrives there.
   * @throws AppError `not_found`; `rate_limited` for too many codes; `conflict` for a channel that needs an account of the operator
   */
  async sendCode(teamId: string, targetId: string, actor: { kind: 'user' | 'api_key'; id: string }): Promise<SentCode> {
    const { storage, clock, proofs, channels, publicUrl } = this.#deps;
    const target = await this.get(teamId, targetId);
    if (!channels[target.channel]) throw new AppError('conflict', notConfigured(target.channel));
    const address = await this.open(target);
    const [by, team] = [await selectActorName(storage.db, teamId, actor), await selectTeamName(storage.db, teamId)];
    const { code, expiresAt } = await proofs.issue({ teamId, userId: null, ownerId: target.id, addressKey: target.addressKey });
    const now = clock.now();
    const reader = { locale: 'en', timeZone: 'UTC' } as const;
    const message = proofMessage({ id: newId(now), code, by, team, url: `${publicUrl}/`, at: now, validMs: expiresAt - now, reader });
    releaseAdmissionSlot();
    return { result: await sendTo(channels, message, address, AbortSignal.timeout(SEND_WITHIN_MS)), expiresAt };
  }

  /** Proves the target by the code that was sent there. @throws AppError `not_found`; `invalid` for a wrong or ended code */
  async verify(teamId: string, targetId: string, code: string): Promise<Target> {
    const { clock, proofs } = this.#deps;
    const { id } = await this.get(teamId, targetId);
    await proofs.use({ teamId, userId: null, ownerId: id }, code, (tx, addressKey) =>
      setTargetProved(tx, { teamId, id }, addressKey, clock.now()),
    );
    const target = await this.get(teamId, targetId);
    this.#tell('updated', target);
    return target;
  }

  /** What decides whether targets can be reached, by id. */
  async statesOf(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, Target>> {
    return new Map((await selectTargetsById(db, teamId, ids)).map((target) => [target.id, target]));
  }

  /** The address to send to. @throws AppError `internal` when it cannot be decrypted */
  async open({ id, teamId, address }: Pick<StoredTarget, 'id' | 'teamId' | 'address'>): Promise<Address> {
    const { secrets, signing } = this.#deps;
    const stored = JSON.parse(await secrets.decryptText(purposeOf(id), address)) as TargetAddress;
    return stored.channel === 'webhook' ? { ...stored, secrets: await signing(teamId) } : stored;
  }

  /** Inside a write. @returns false when it was off already */
  async switchOff(tx: DbOrTx, key: { teamId: string; id: string }, reason: string): Promise<boolean> {
    return setTargetOff(tx, key, reason, this.#deps.clock.now());
  }

  /** The chat of a target has another number now, as Telegram says. */
  async followChat(teamId: string, id: string, chatId: string): Promise<void> {
    const { storage, clock } = this.#deps;
    const target = await this.get(teamId, id);
    const { channel, addressKey } = target;
    if (channel !== 'telegram') return;
    await moveTarget(storage.db, { teamId, id }, addressKey, await this.#seal(id, { channel, chatId }), clock.now());
    this.#tell('updated', target);
  }

  #tell(kind: SettingChange['kind'], { teamId, id, name }: Target): void {
    this.changes.publish({ kind, teamId, id, name });
  }

  async #seal(id: string, address: TargetAddress): Promise<Pick<StoredTarget, 'address' | 'addressKey' | 'bucket' | 'shown'>> {
    const { secrets, channels } = this.#deps;
    return {
      address: await secrets.encrypt(purposeOf(id), JSON.stringify(address)),
      addressKey: secrets.fingerprints(ADDRESS_PURPOSE, identityOf(address))[0]!,
      bucket: bucketOf(channels, address),
      shown: showAddress(address),
    };
  }
}

/** Undefined secrets of a webhook do not matter for its rate. */
function bucketOf(channels: Channels, address: TargetAddress): string | null {
  return bucketOfAddress(channels, address.channel === 'webhook' ? { ...address, secrets: [] } : address);
}

/** Names the target: one stored address cannot take the place of another. */
function purposeOf(id: string): string {
  return `notification target ${id}`;
}

function nameInUse(error: unknown): never {
  throw isUnique(error) ? new AppError('conflict', 'the team already has a notification target with this name', { cause: error }) : error;
}
