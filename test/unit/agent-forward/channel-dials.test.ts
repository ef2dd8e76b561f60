import { expect, test } from 'vitest';
import { ChannelDials } from '../../../agent/forward/channel-dials.ts';

/** Dials that end when the test says so. */
function setUp() {
  const under: { url: string | undefined; token: string; end: (isDialled: boolean) => Promise<void> }[] = [];
  const dials = new ChannelDials(({ url, token }) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = async (isDialled: boolean): Promise<void> => {
      under.splice(under.indexOf(dial), 1);
      resolve(isDialled);
      await promise;
      await Promise.resolve();
    };
    const dial = { url, token, end };
    under.push(dial);
    return promise;
  });
  const to = (url: string | undefined) => under.filter((dial) => dial.url === url);
  return { dials, to };
}

test('a control plane that does not answer holds up only its own channels', async () => {
  const { dials, to } = setUp();
  dials.add({ url: 'http://dead', token: 'a' }, 40);
  dials.add({ url: undefined, token: 'b' }, 20);
  expect([to('http://dead').length, to(undefined).length, dials.size]).toEqual([16, 16, 60]);
  await to(undefined)[0]!.end(true);
  expect(to(undefined)).toHaveLength(16);
  await to('http://dead')[0]!.end(false);
  expect([to('http://dead').length, to(undefined).length, dials.size]).toEqual([15, 16, 34]);
});

test('dials that wait use the newest token', async () => {
  const { dials, to } = setUp();
  dials.add({ url: undefined, token: 'old' }, 17);
  dials.add({ url: undefined, token: 'new' }, 1);
  await to(undefined)[0]!.end(true);
  expect(to(undefined).at(-1)!.token).toBe('new');
});

test('dials nothing more once it is stopped', async () => {
  const { dials, to } = setUp();
  dials.add({ url: undefined, token: 'a' }, 20);
  dials.stop();
  dials.add({ url: undefined, token: 'a' }, 1);
  await to(undefined)[0]!.end(true);
  expect([to(undefined).length, dials.size]).toEqual([15, 15]);
});
