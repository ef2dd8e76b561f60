import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addUser, signIn, PASSWORD } from '../harness/identity/sign-in.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** A client sends the head of a request, waits until the credential is revoked, and then sends the body. */

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [] });
});
afterAll(async () => world.close());

interface Held {
  finish: () => Promise<string>;
}

/** The body is sent by `finish`. */
async function holdBack(bearer: string, path: string, body: object): Promise<Held> {
  const text = JSON.stringify(body);
  const socket = net.connect(Number(new URL(world.server.url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  await once(socket, 'connect');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    'Expect: 100-continue',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await waitUntil('the server wants the body', () => answer.includes('100 Continue'));
  // The credential is looked up now, before those of later requests.
  expect((await world.caller.call('GET', '/api/me')).status).toBe(200);
  answer = '';
  return {
    finish: async () => {
      socket.write(text);
      await once(socket, 'close');
      return answer.split('\r\n', 1)[0]!;
    },
  };
}

const CREDENTIALS: Record<string, () => Promise<{ bearer: string; takeAway: () => Promise<void> }>> = {
  'an API key that is revoked': async () => {
    const { data } = (
      await world.caller.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: 'mallory', role: 'admin' })
    ).body;
    return {
      bearer: data.api_key,
      takeAway: async () => {
        expect((await world.caller.call('DELETE', `/api/api-keys/${data.id}`)).status).toBe(204);
      },
    };
  },
  'a session whose person has a new password': async () => {
    const email = 'robbed@example.org';
    await addUser(world, email, 'admin');
    const { access_token: bearer } = await signIn(world, email);
    return {
      bearer,
      takeAway: async () => {
        await world.server.services.teams.changePassword(email, PASSWORD, 'another horse battery');
      },
    };
  },
  'a member who becomes a viewer': async () => {
    const email = 'lowered@example.org';
    const id = await addUser(world, email, 'admin');
    const { access_token: bearer } = await signIn(world, email);
    return {
      bearer,
      takeAway: async () => {
        expect((await world.caller.call('PATCH', `/api/members/${id}`, { role: 'viewer' })).status).toBe(200);
      },
    };
  },
};

describe.each(Object.entries(CREDENTIALS))('%s', (_name, make) => {
  test('creates no key with a request that started before the revocation', async () => {
    const { bearer, takeAway } = await make();
    const held = await holdBack(bearer, '/api/api-keys', { name: 'kept by mallory', role: 'admin' });
    await takeAway();
    expect(await held.finish()).toMatch(/^HTTP\/1\.1 40[13] /);
    const { data } = (await world.caller.call<{ data: { name: string }[] }>('GET', '/api/api-keys')).body;
    expect(data.map(({ name }) => name)).not.toContain('kept by mallory');
  });
});

test('a slow body is accepted while the credential is valid', async () => {
  const held = await holdBack(world.caller.apiKey, '/api/sites', { name: 'slow' });
  expect(await held.finish()).toBe('HTTP/1.1 200 OK');
});
