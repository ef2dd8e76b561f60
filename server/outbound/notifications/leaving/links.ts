import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secrets } from '../../../platform/storage/secrets.ts';

/** Links in messages that act for their reader without a sign-in: signed, so that nobody can make one for somebody else. */

const PURPOSE = 'message link';
/** Paths of the pages. */
export const UNSUBSCRIBE_PATH = '/mail/unsubscribe';

const payloadSchema = z.tuple([z.string(), z.string(), z.string(), z.array(z.string()).max(20)]);

/** Whose message it was, and by which group and topics it came. */
export interface MessageLink {
  teamId: string;
  userId: string;
  groupId: string;
  topicIds: readonly string[];
}

/** Signs links and reads them. They do not expire: somebody may leave by an old message. */
export class MessageLinks {
  readonly #secrets: Pick<Secrets, 'fingerprints'>;
  readonly #publicUrl: string;

  constructor({ secrets, publicUrl }: { secrets: Pick<Secrets, 'fingerprints'>; publicUrl: string }) {
    this.#secrets = secrets;
    this.#publicUrl = publicUrl;
  }

  /** For `List-Unsubscribe` and the foot of a message. */
  unsubscribeUrl({ teamId, userId, groupId, topicIds }: MessageLink): string {
    const payload = Buffer.from(JSON.stringify([teamId, userId, groupId, topicIds])).toString('base64url');
    return `${this.#publicUrl}${UNSUBSCRIBE_PATH}/${payload}.${this.#signatures(payload)[0]!}`;
  }

  /** Undefined for a link that is not ours. */
  read(token: string): MessageLink | undefined {
    const [payload = '', signature = ''] = token.split('.');
    if (!this.#signatures(payload).some((expected) => isSame(expected, signature))) return undefined;
    const [teamId, userId, groupId, topicIds] = payloadSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return { teamId, userId, groupId, topicIds };
  }

  #signatures(payload: string): string[] {
    return this.#secrets.fingerprints(PURPOSE, payload).map((hash) => Buffer.from(hash, 'hex').toString('base64url'));
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
