import { expect, it } from 'vitest';
import { sourceAddress } from '../../../agent/forward/source-address.ts';
import type { RouterRow } from '../../../agent/routers/adapter.ts';
import { FakeRouter } from '../../harness/fake-router.ts';

/** This machine uses 127.0.0.1 towards the router. */
async function seenFrom(rows: RouterRow[], apiUser?: string): Promise<string> {
  const router = Object.assign(new FakeRouter(), apiUser === undefined ? {} : { apiUser });
  router.onCommand = () => ({ rows });
  return sourceAddress(router, { timeoutMs: 1000 });
}

const mine = { name: 'agent', via: 'api', address: '203.0.113.7' };
const somebody = { name: 'monitoring', via: 'api', address: '198.51.100.9' };

it.each([
  ['the only API session', [mine], undefined, '203.0.113.7'],
  ['its own API user among others', [somebody, mine, { ...mine, via: 'winbox', address: '192.0.2.1' }], 'agent', '203.0.113.7'],
  ['no stranger, even if nobody else is seen', [somebody], 'agent', '127.0.0.1'],
  ['nobody when several could be meant', [mine, { ...mine, address: '192.0.2.1' }], 'agent', '127.0.0.1'],
  ['nobody when it does not know its name and there are others', [mine, somebody], undefined, '127.0.0.1'],
])('believes %s', async (_who, rows, apiUser, address) => {
  expect(await seenFrom(rows, apiUser)).toBe(address);
});
