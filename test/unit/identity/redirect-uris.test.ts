import { describe, expect, test } from 'vitest';
import { checkRedirectUris } from '../../../server/access/identity/clients/redirect-uris.ts';
import type { ClientKind } from '../../../server/access/identity/types.ts';

const accepts = (kind: ClientKind, uri: string): boolean => {
  try {
    return checkRedirectUris('redirect_uris', kind, [uri]).length === 1;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid', errors: { redirect_uris: [expect.any(String)] } });
    return false;
  }
};

describe.each([
  // address, web, browser, native, implicit
  ['https://app.example.net/callback', true, true, true, true],
  ['https://app.example.net:8443/callback?x=1', true, true, true, true],
  ['http://app.example.net/callback', false, false, false, false],
  ['http://127.0.0.1:3000/callback', true, true, true, false],
  ['http://localhost:3000/callback', true, true, true, false],
  ['http://[::1]:3000/callback', true, true, true, false],
  ['https://localhost/callback', true, true, false, false],
  ['net.example.app:/callback', false, false, true, false],
  ['myapp:/callback', false, false, false, false],
  ['javascript:alert(1)', false, false, false, false],
  ['data:text/html,x', false, false, false, false],
  ['https://app.example.net/#', false, false, false, false],
  ['https://app.example.net/#x', false, false, false, false],
  ['https://user:password@app.example.net/', false, false, false, false],
  ['https://app.example.net\\@evil.example/', false, false, false, false],
  ['https://app.example.net/ x', false, false, false, false],
  ['https://*.example.net/callback', false, false, false, false],
  ['https://app.example.net/*', false, false, false, false],
  ['https://app.example.net/?next=*', false, false, false, false],
  ['net.example.*:/callback', false, false, false, false],
  ['https://app.example.net@evil.example/', false, false, false, false],
  ['https://@app.example.net/', false, false, false, false],
  ['https://app.example.net./callback', false, false, false, false],
  ['http://localhost./callback', false, false, false, false],
  ['https://APP.example.net/callback', false, false, false, false],
  ['https://app.example.net:443/callback', false, false, false, false],
  ['https://app.example.net:0443/callback', false, false, false, false],
  ['http://127.1:3000/callback', false, false, false, false],
  ['http://2130706433/callback', false, false, false, false],
  ['http://127.0.0.1.evil.example/callback', false, false, false, false],
  ['https://аpp.example.net/callback', false, false, false, false],
  ['https://app。example.net/callback', false, false, false, false],
  ['https://xn--pp-5na.example.net/callback', true, true, true, true],
  ['https://app.example.net/a/../callback', false, false, false, false],
  ['https://app.example.net/%2e%2e/callback', false, false, false, false],
  ['https://app.example.net/a%2fcallback', false, false, false, false],
  ['https:/app.example.net/callback', false, false, false, false],
  ['https:app.example.net', false, false, false, false],
  ['https://app.example.net\u0000/', false, false, false, false],
  ['https://app.example.net/\tx', false, false, false, false],
  ['https://app.example.net/\r\nLocation:x', false, false, false, false],
  ['\u202Ehttps://app.example.net/', false, false, false, false],
  ['JavaScript:alert(1)', false, false, false, false],
  ['vbscript:x', false, false, false, false],
  ['blob:https://app.example.net/x', false, false, false, false],
  ['file:///etc/passwd', false, false, false, false],
  ['ws://app.example.net/', false, false, false, false],
  ['net.example.app:/callback#x', false, false, false, false],
  ['net.example.app://user@host/callback', false, false, false, false],
  ['//app.example.net/', false, false, false, false],
  ['/callback', false, false, false, false],
  ['', false, false, false, false],
  [`https://app.example.net/${'x'.repeat(1000)}`, false, false, false, false],
])('%s', (uri, web, browser, native, implicit) => {
  test.each(Object.entries({ web, browser, native, implicit }))('for a client of the kind %s: %s', (kind, expected) => {
    expect(accepts(kind as ClientKind, uri)).toBe(expected);
  });
});

test('what is given twice is kept once', () => {
  const uri = 'https://app.example.net/';
  expect(checkRedirectUris('redirect_uris', 'web', [uri, uri])).toEqual([uri]);
});
