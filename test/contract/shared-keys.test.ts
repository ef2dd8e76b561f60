import { expect, test } from 'vitest';
import { admitKeys } from '../../server/platform/nodes/admit-keys.ts';
import { selectNodes } from '../../server/platform/nodes/store.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';

const key = (kid: string, byte: number) => ({ kid, bytes: new Uint8Array(32).fill(byte) });
const [first, second, third] = [key('first', 1), key('second', 2), key('third', 3)];

describeEachDatabase('secret keys of several control planes', (open) => {
  async function setUp() {
    const storage = await open();
    let now = 1000;
    const admit = (...keys: [ReturnType<typeof key>, ...ReturnType<typeof key>[]]) =>
      storage.writes.write(async (tx) => admitKeys(tx, new Secrets(keys).keys, await selectNodes(tx), (now += 1)));
    const known = async () => (await storage.db.selectFrom('secret_keys').select('id').orderBy('created_at').execute()).map(({ id }) => id);
    const runs = (name: string, keys: string) =>
      storage.db
        .insertInto('nodes')
        .values({
          id: name,
          name,
          version: '1',
          process: null,
          public_url: 'https://n.example',
          beat: 0,
          started_at: 0,
          keys,
          program_schema: 69,
        })
        .execute();
    return { storage, admit, known, runs };
  }

  test('the first one decides, and another file is refused with what to do', async () => {
    const { admit, known } = await setUp();
    await admit(first);
    await admit(first);
    await admit(first, second);
    expect(await known()).toEqual(['first']);
    await expect(admit(second)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('lacks the key first') as string,
    });
    await expect(admit(key('first', 9))).rejects.toMatchObject({ code: 'invalid' });
  });

  test('a new key encrypts only when all that run know it', async () => {
    const { storage, admit, known, runs } = await setUp();
    await admit(first);
    await runs('web-2', 'first');
    await expect(admit(second, first)).rejects.toMatchObject({ message: expect.stringContaining('unknown to web-2') as string });
    await storage.db.deleteFrom('nodes').execute();
    await runs('web-2', 'first second');
    await admit(second, first);
    expect(await known()).toEqual(['first', 'second']);
    // Still in the middle of the change: it knows both.
    await admit(first, second);
    await expect(admit(first, third)).rejects.toMatchObject({ message: expect.stringContaining('lacks the key second') as string });
    // The former key may go once nothing is encrypted with it.
    await admit(second);
    expect(await known()).toEqual(['first', 'second']);
  });
});
