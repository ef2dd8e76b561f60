import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import type { ECDH } from 'node:crypto';

/** RFC 8291: encryption of a push message for one browser, in the form of RFC 8188 (aes128gcm) with one record. */

const CURVE = 'prime256v1';
const RECORD_BYTES = 4096;
/** The record without its header, tag and padding mark: a push service need not take more (RFC 8030 section 7.2, RFC 8291 section 4). */
export const MAX_PLAIN_BYTES = 3993;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
/** The last record ends with this byte. */
const LAST_RECORD = 2;

export interface Receiver {
  /** Of the browser's subscription, in base64url: an uncompressed point on P-256. */
  p256dh: string;
  /** The secret of the subscription, 16 bytes in base64url. */
  auth: string;
}

/** For the vectors of the RFC; every message has new ones. */
export interface Ephemeral {
  key: ECDH;
  salt: Buffer;
}

export function newEphemeral(): Ephemeral {
  const key = createECDH(CURVE);
  key.generateKeys();
  return { key, salt: randomBytes(16) };
}

/**
 * The body of the request.
 * @throws RangeError when the message is longer than {@link MAX_PLAIN_BYTES} or the subscription's keys are not of their kind
 */
export function encryptFor(receiver: Receiver, plain: Buffer, { key, salt }: Ephemeral = newEphemeral()): Buffer {
  const receiverPoint = Buffer.from(receiver.p256dh, 'base64url');
  const auth = Buffer.from(receiver.auth, 'base64url');
  if (plain.length > MAX_PLAIN_BYTES) throw new RangeError('the push message is too long');
  if (receiverPoint.length !== POINT_BYTES || auth.length !== AUTH_BYTES)
    throw new RangeError('the keys of the subscription are not valid');
  const senderPoint = key.getPublicKey();
  const shared = sharedSecret(key, receiverPoint);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiverPoint, senderPoint]);
  const input = derive(shared, auth, info, 32);
  const contentKey = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', contentKey, nonce);
  const record = [cipher.update(plain), cipher.update(Buffer.of(LAST_RECORD)), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([header(salt, senderPoint), ...record]);
}

function sharedSecret(key: ECDH, receiverPoint: Buffer): Buffer {
  try {
    return key.computeSecret(receiverPoint);
  } catch (cause) {
    throw new RangeError('the keys of the subscription are not valid', { cause });
  }
}

function derive(input: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', input, salt, info, length));
}

/** Salt, size of a record, and the sender's point as the id of the key. */
function header(salt: Buffer, senderPoint: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([salt, size, Buffer.of(senderPoint.length), senderPoint]);
}
