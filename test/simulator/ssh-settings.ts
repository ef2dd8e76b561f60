import type { RouterState } from './state.ts';

/** Settings of `/ip/ssh` as an SSH server needs them. */
export interface SshSettings {
  forwarding: 'no' | 'local' | 'remote' | 'both';
  /** A user with an imported key may use his password all the same. */
  passwordWithKey: boolean;
  strongCrypto: boolean;
  hostKeyType: 'rsa' | 'ed25519';
  hostKeySize: number;
}

export function readSshSettings(router: Pick<RouterState, 'setting'>): SshSettings {
  const read = (name: string): string => router.setting('/ip/ssh', name);
  const forwarding = read('forwarding-enabled');
  return {
    forwarding: forwarding === 'local' || forwarding === 'remote' || forwarding === 'both' ? forwarding : 'no',
    passwordWithKey: read('always-allow-password-login') === 'true' || read('password-authentication') === 'yes',
    strongCrypto: read('strong-crypto') === 'true',
    hostKeyType: read('host-key-type') === 'ed25519' ? 'ed25519' : 'rsa',
    hostKeySize: Number(read('host-key-size') || '2048'),
  };
}
