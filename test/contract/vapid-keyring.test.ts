import { beforeEach, expect, test } from 'vitest';
import { ProviderKeyring } from '../../server/access/identity/keys/service.ts';
import { VapidKeyring } from '../../server/outbound/notifications/channels/web-push/keyring.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';

describeEachDatabase('the key that browsers subscribe to', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  const secrets = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);
  const keyring = () => new VapidKeyring({ storage, clock, secrets });

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(Date.parse('2026-01-05T12:00:00Z'));
  });

  test('is one for all processes, also when they begin together, and stays after a restart', async () => {
    const made = await Promise.all([keyring().load(), keyring().load(), keyring().load()]);
    const keys = new Set(made.map(({ publicKey }) => publicKey));
    expect(keys.size).toBe(1);
    expect(Buffer.from([...keys][0]!, 'base64url')).toHaveLength(65);
    expect((await keyring().load()).publicKey).toBe([...keys][0]);
  });

  test('is stored encrypted, and outlives the keys of the provider', async () => {
    const { publicKey, privateJwk } = await keyring().load();
    expect(JSON.stringify(await storage.db.selectFrom('provider_keys').selectAll().execute())).not.toContain(privateJwk.d);
    const provider = new ProviderKeyring({ storage, clock, secrets });
    const { signing } = await provider.load();
    expect(signing).toHaveLength(1);
    await provider.replace();
    await provider.sweep();
    expect((await keyring().load()).publicKey).toBe(publicKey);
  });

  test('is asked for again after a reading that failed', async () => {
    await keyring().load();
    let fails = true;
    const decryptText: Secrets['decryptText'] = async (...given) => {
      if (fails) throw new Error('the key file cannot be read');
      return secrets.decryptText(...given);
    };
    const once = new VapidKeyring({ storage, clock, secrets: { encrypt: (...given) => secrets.encrypt(...given), decryptText } });
    await expect(once.load()).rejects.toThrow('the key file');
    fails = false;
    expect((await once.load()).publicKey).toBe((await keyring().load()).publicKey);
  });
});
