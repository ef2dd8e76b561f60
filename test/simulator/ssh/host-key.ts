import { createHash, generateKeyPair as generateKeyPairCallback } from 'node:crypto';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';

const generateKeyPair = promisify(generateKeyPairCallback);

/** A new private host key, as PEM (RSA) or in OpenSSH form (ed25519, which ssh2 reads in no other). */
export async function createHostKey(type: 'rsa' | 'ed25519', bits = 2048): Promise<string> {
  if (type === 'ed25519') return createEd25519Pair().private;
  const { privateKey } = await generateKeyPair('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
}

/** ssh2 writes about one ed25519 key in 250 so that it cannot read it again (a public key that begins with a zero byte). */
export function createEd25519Pair(): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}

/** `SHA256:…` of a private key's public half, as `ssh-keygen -l` prints it. Throws RangeError for what is no key. */
export function fingerprintOf(privateKey: string): string {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw new RangeError(`no SSH host key: ${key.message}`);
  return `SHA256:${createHash('sha256').update(key.getPublicSSH()).digest('base64').replace(/=+$/, '')}`;
}
