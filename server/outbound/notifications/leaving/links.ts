import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Secrets } from '../../../platform/storage/secrets.ts';

/** Links in messages that act for their reader without a sign-in: signed, so that nobody can make one for somebody else. */

const PURPOSE = 'message link';
const ACKNOWLEDGE_PURPOSE = 'acknowledge link';
/** Paths of the pages. */
export const UNSUBSCRIBE_PATH = '/mail/unsubscribe';
export const ACKNOWLEDGE_PATH = '/mail/acknowledge';

/** Who finds an old message must not be able to take over what happens today. */
const ACKNOWLEDGE_WITHIN_MS = 7 * 24 * 3_600_000;

const payloadSchema = z.tuple([z.string(), z.string(), z.string(), z.array(z.string()).max(20)]);

const acknowledgeSchema = z.tuple([z.string(), z.enum(['user', 'target']), z.string(), z.string(), z.number()]);

/** Whose message it was: of a person, or of an address of the team. */
export interface AcknowledgeLink {
  teamId: string;
  reader: { kind: 'user' | 'target'; id: string };
  threadId: string;
}

/** Whose message it was, and by which group and topics it came. */
export interface MessageLink {
  teamId: string;
  userId: string;
  groupId: string;
  topicIds: readonly string[];
}

/** Signs links and reads them. Those for leaving do not expire: somebody may leave by an old message. */
export class MessageLinks {
  readonly #secrets: Pick<Secrets, 'fingerprints'>;
  readonly #publicUrl: string;

  constructor({ secrets, publicUrl }: { secrets: Pick<Secrets, 'fingerprints'>; publicUrl: string }) {
    this.#secrets = secrets;
    this.#publicUrl = publicUrl;
  }

  /** For `List-Unsubscribe` and the foot of a message. */
  unsubscribeUrl({ teamId, userId, groupId, topicIds }: MessageLink): string {
    return `${this.#publicUrl}${UNSUBSCRIBE_PATH}/${this.#sign(PURPOSE, [teamId, userId, groupId, topicIds])}`;
  }

  /** Undefined for a link that is not ours. */
  read(token: string): MessageLink | undefined {
    const payload = this.#read(PURPOSE, token);
    if (payload === undefined) return undefined;
    const [teamId, userId, groupId, topicIds] = payloadSchema.parse(payload);
    return { teamId, userId, groupId, topicIds };
  }

  /** The page on which the reader of a message takes its thread over. It works for seven days. */
  acknowledgeUrl({ teamId, reader, threadId }: AcknowledgeLink, now: number): string {
    const payload = [teamId, reader.kind, reader.id, threadId, now + ACKNOWLEDGE_WITHIN_MS];
    return `${this.#publicUrl}${ACKNOWLEDGE_PATH}/${this.#sign(ACKNOWLEDGE_PURPOSE, payload)}`;
  }

  /** Undefined for a link that is not ours, or too old. */
  readAcknowledge(token: string, now: number): AcknowledgeLink | undefined {
    const payload = this.#read(ACKNOWLEDGE_PURPOSE, token);
    if (payload === undefined) return undefined;
    const [teamId, kind, id, threadId, until] = acknowledgeSchema.parse(payload);
    return now < until ? { teamId, reader: { kind, id }, threadId } : undefined;
  }

  #sign(purpose: string, content: unknown): string {
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${payload}.${this.#signatures(purpose, payload)[0]!}`;
  }

  /** The signed content; undefined for another signature. */
  #read(purpose: string, token: string): unknown {
    const [payload = '', signature = ''] = token.split('.');
    if (!this.#signatures(purpose, payload).some((expected) => isSame(expected, signature))) return undefined;
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  }

  #signatures(purpose: string, payload: string): string[] {
    return this.#secrets.fingerprints(purpose, payload).map((hash) => Buffer.from(hash, 'hex').toString('base64url'));
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
