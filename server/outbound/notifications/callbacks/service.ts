import { AppError } from '../../../platform/core/errors.ts';
import { hashSecret, secretMatches } from '../../../platform/core/ids.ts';
import type { ChannelAccounts } from '../channels/create.ts';
import { SecretFile } from '../channels/secret-file.ts';
import type { MessagesService } from '../messages/service.ts';
import { isSignedByMeta, isSignedByTwilio } from './signatures.ts';
import { readSmsStatus } from './sms-status.ts';
import { readWhatsappStatuses } from './whatsapp-status.ts';

export interface CallbacksDeps {
  accounts: Pick<ChannelAccounts, 'sms' | 'whatsapp'>;
  messages: Pick<MessagesService, 'receive'>;
  /** Without a slash at the end. */
  publicUrl: string;
}

/**
 * What providers say of messages that they took. The signature is the credential: who has none learns nothing, and who has one learns
 * nothing either, because a provider knows no teams.
 */
export class ProviderCallbacks {
  readonly #messages: Pick<MessagesService, 'receive'>;
  readonly #publicUrl: string;
  readonly #smsToken: SecretFile | undefined;
  readonly #whatsapp: { appSecret: SecretFile; verifyToken: SecretFile } | undefined;

  constructor({ accounts: { sms, whatsapp }, messages, publicUrl }: CallbacksDeps) {
    this.#messages = messages;
    this.#publicUrl = publicUrl;
    this.#smsToken = sms === null ? undefined : new SecretFile(sms.tokenFile);
    const callbacks = whatsapp?.callbacks ?? null;
    this.#whatsapp =
      callbacks === null
        ? undefined
        : { appSecret: new SecretFile(callbacks.appSecretFile), verifyToken: new SecretFile(callbacks.verifyTokenFile) };
  }

  /**
   * @param target path and query, as they were asked for. Behind a proxy, the provider has signed the public address and not that of this server
   * @throws AppError `not_found` without an account, `forbidden` without its signature, `unavailable` when it cannot be checked
   */
  async onSms({ target, signature, body }: { target: string; signature: string; body: string }): Promise<void> {
    const key = await secretOf(this.#smsToken);
    const form = new URLSearchParams(body);
    if (!isSignedByTwilio(signature, key, `${this.#publicUrl}${target}`, form)) throw notSigned();
    const receipt = readSmsStatus(form);
    if (receipt) await this.#messages.receive('sms', [receipt]);
  }

  /** @throws AppError as {@link onSms} */
  async onWhatsapp({ signature, body }: { signature: string; body: Buffer }): Promise<void> {
    const key = await secretOf(this.#whatsapp?.appSecret);
    if (!isSignedByMeta(signature, key, body)) throw notSigned();
    await this.#messages.receive('whatsapp', readWhatsappStatuses(body.toString()));
  }

  /** Meta asks once, when the address is entered there, whether it is ours. @returns what it wants to hear @throws AppError as {@link onSms} */
  async verifyWhatsapp({ mode, token, challenge }: { mode: string; token: string; challenge: string }): Promise<string> {
    const secret = await secretOf(this.#whatsapp?.verifyToken);
    if (mode !== 'subscribe' || challenge === '' || !secretMatches(token, hashSecret(secret)))
      throw new AppError('forbidden', 'the verify token is not right');
    return challenge;
  }
}

function notSigned(): AppError {
  return new AppError('forbidden', 'the signature is not right');
}

async function secretOf(file: SecretFile | undefined): Promise<string> {
  if (!file) throw new AppError('not_found', 'this control plane has no such account');
  const secret = await file.read();
  if (secret === undefined) throw new AppError('unavailable', 'signatures cannot be checked now');
  return secret;
}
