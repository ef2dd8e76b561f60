import type { Algorithms, CipherAlgorithm, KexAlgorithm, MacAlgorithm } from 'ssh2';
import type { SshRouter, SshServerOptions } from './types.ts';

// ssh2 as a server cannot do group exchange, so it is never offered.
const elliptic: KexAlgorithm[] = ['ecdh-sha2-nistp256', 'ecdh-sha2-nistp384', 'ecdh-sha2-nistp521'];
const finite: KexAlgorithm[] = ['diffie-hellman-group14-sha256', 'diffie-hellman-group16-sha512'];
const ciphers: CipherAlgorithm[] = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'];
const macs: MacAlgorithm[] = ['hmac-sha2-256', 'hmac-sha2-512', 'hmac-sha1'];

const ancient: Algorithms = {
  kex: ['diffie-hellman-group14-sha1'],
  cipher: ['aes128-cbc', 'aes256-cbc'],
  hmac: ['hmac-sha1'],
  serverHostKey: ['ssh-rsa'],
};

/** What a router of this version offers a client. */
export function algorithmsOf(router: SshRouter, wanted: SshServerOptions['algorithms']): Algorithms {
  const kind = wanted ?? (router.version.atLeast('7.7') ? 'modern' : 'no-curve25519');
  if (kind === 'sha1-cbc') return ancient;
  const curves: KexAlgorithm[] = kind === 'modern' ? ['curve25519-sha256', 'curve25519-sha256@libssh.org'] : [];
  const { strongCrypto } = router.sshSettings;
  return {
    kex: [...curves, ...elliptic, ...finite, ...(strongCrypto ? [] : (['diffie-hellman-group14-sha1'] as const))],
    cipher: ciphers,
    hmac: strongCrypto ? macs.filter((mac) => mac !== 'hmac-sha1') : macs,
    serverHostKey: ['ssh-ed25519', 'rsa-sha2-256', 'rsa-sha2-512', ...(strongCrypto ? [] : (['ssh-rsa'] as const))],
  };
}
