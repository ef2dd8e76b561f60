import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { DeviceCookies } from '../../../server/access/identity/sign-in/device-cookies.ts';

const ada = { account: 'ada@example.org', passwordSince: 0 };
const bob = { account: 'bob@example.org', passwordSince: 0 };
const cookies = (...keys: string[]) => new DeviceCookies({ keys, baseUrl: 'https://signalbox.example.net/box', mountPath: '/box/oidc' });

/** @param before the cookie that the browser sends */
function signIn(devices: DeviceCookies, person: typeof ada, before?: string): { cookie: string; attributes: string[] } {
  const lines: string[] = [];
  const response = { appendHeader: (_name: string, line: string) => lines.push(line) } as unknown as ServerResponse;
  devices.remember(response, devices.read(before), person);
  const [cookie = '', ...attributes] = lines[0]!.split('; ');
  return { cookie, attributes };
}
const proves = (devices: DeviceCookies, cookie: string, person: typeof ada) => devices.proves(devices.read(cookie), person) !== undefined;

test('a browser is known to the accounts that signed in there, all of them', () => {
  const devices = cookies('key');
  const first = signIn(devices, ada).cookie;
  const both = signIn(devices, bob, first).cookie;
  expect([proves(devices, first, ada), proves(devices, first, bob)]).toEqual([true, false]);
  expect([proves(devices, `a=b; ${both}; c=d`, ada), proves(devices, both, bob)]).toEqual([true, true]);
  expect(devices.proves(devices.read(both), ada)).toBe(devices.proves(devices.read(first), ada));
});

test('eight accounts at most; the one that signed in longest ago is forgotten', () => {
  const devices = cookies('key');
  let { cookie } = signIn(devices, ada);
  for (let n = 0; n < 7; n += 1) ({ cookie } = signIn(devices, { account: `p${n}`, passwordSince: 0 }, cookie));
  expect(proves(devices, cookie, ada)).toBe(true);
  ({ cookie } = signIn(devices, bob, cookie));
  expect(proves(devices, cookie, ada)).toBe(false);
  expect(cookie.split('.')).toHaveLength(10);
});

test('a new password and a changed cookie prove nothing', () => {
  const devices = cookies('key');
  const { cookie } = signIn(devices, ada);
  expect(proves(devices, cookie, { ...ada, passwordSince: 1000 })).toBe(false);
  const [id, seal, proof] = cookie.split('.') as [string, string, string];
  const other = signIn(devices, bob).cookie.split('.') as [string, string, string];
  for (const forged of [
    `${id}x.${seal}.${proof}`,
    `${id}.${other[1]}.${proof}`,
    `${other[0]}.${other[1]}.${proof}`,
    `${id}.${seal}`,
    id,
    '',
    'x',
  ]) {
    expect(proves(devices, forged, ada), forged).toBe(false);
  }
});

test('keys are changed without a break: the old one is accepted, the new one signs', () => {
  const { cookie } = signIn(cookies('old'), ada);
  expect(proves(cookies('new', 'old'), cookie, ada)).toBe(true);
  expect(proves(cookies('new'), cookie, ada)).toBe(false);
  expect(proves(cookies('new'), signIn(cookies('new', 'old'), ada, cookie).cookie, ada)).toBe(true);
});

test('over https the cookie is Secure; it is never for scripts or other sites', () => {
  const { cookie, attributes } = signIn(cookies('key'), ada);
  expect(cookie).toMatch(/^__Secure-signalbox-device=[\w.-]+$/);
  expect(attributes).toEqual(['Path=/box/oidc', 'Max-Age=34560000', 'HttpOnly', 'SameSite=Lax', 'Secure']);
});
