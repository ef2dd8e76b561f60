import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { generateKeyPair, SignJWT } from 'jose';
import { UpstreamProvider } from '../../server/access/identity/upstream/provider.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** An upstream identity provider that turned hostile, or whom somebody between it and the control plane impersonates. */

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

let closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

class HostileProvider {
  /** By path; what is missing is answered as an honest provider would. */
  readonly answers: Record<string, Answer> = {};
  readonly asked: string[] = [];
  readonly #server: http.Server;

  private constructor() {
    this.#server = http.createServer((request, response) => {
      const path = request.url!;
      this.asked.push(path);
      const answer = this.answers[path];
      if (answer) answer(request, response);
      else if (path === '/.well-known/openid-configuration') this.json(response, this.metadata());
      else response.writeHead(404).end();
    });
    closers.push(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  static async start(): Promise<HostileProvider> {
    const provider = new HostileProvider();
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  metadata(): Record<string, string> {
    const { issuer } = this;
    return { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` };
  }

  json(response: http.ServerResponse, body: object): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

const proof = { state: 's', nonce: 'n', verifier: 'v', redirectUri: 'http://127.0.0.1/callback' };
const upstreamOf = (provider: HostileProvider): UpstreamProvider =>
  new UpstreamProvider({ name: 'Outside', issuer: provider.issuer, clientId: 'signalbox', clientSecret: 'x' }, () => Date.now());

/** Writes for ever, as fast as it is read. @returns how much was written, bytes */
function pour(response: http.ServerResponse, head: string): () => number {
  let written = 0;
  const chunk = Buffer.alloc(64 * 1024, 'x');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(head);
  const go = (): void => {
    while (!response.destroyed) {
      written += chunk.length;
      if (!response.write(chunk)) return;
    }
  };
  response.on('drain', go);
  go();
  return () => written;
}

async function signedToken(issuer: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  return new SignJWT({ nonce: proof.nonce, email: 'ada@example.org', email_verified: true })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer(issuer)
    .setAudience('signalbox')
    .setSubject('1')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
}

describe('a hostile identity provider', () => {
  test.each(['/.well-known/openid-configuration', '/jwks', '/token'])('that pours at %s without end is cut off', async (path) => {
    const provider = await HostileProvider.start();
    let written = (): number => 0;
    provider.answers['/token'] = (_request, response) =>
      void signedToken(provider.issuer).then((token) => provider.json(response, { id_token: token }));
    let isCut = false;
    provider.answers[path] = (_request, response) => {
      response.on('close', () => (isCut = true));
      written = pour(response, '{"keys":[], "x":"');
    };
    await expect(upstreamOf(provider).verifiedEmail('code', proof)).rejects.toMatchObject({ code: 'unavailable' });
    await waitUntil('the connection is closed', () => isCut);
    // What both sockets buffer comes on top of the 256 kB that are read.
    expect(written()).toBeLessThan(20_000_000);
  });

  test.each(['/.well-known/openid-configuration', '/jwks', '/token'])('that answers at %s by a redirect is not followed', async (path) => {
    const [provider, inside] = [await HostileProvider.start(), await HostileProvider.start()];
    provider.answers['/token'] = (_request, response) =>
      void signedToken(provider.issuer).then((token) => provider.json(response, { id_token: token }));
    provider.answers[path] = (_request, response) => response.writeHead(307, { location: `${inside.issuer}${path}` }).end();
    await expect(upstreamOf(provider).verifiedEmail('code', proof)).rejects.toMatchObject({ code: 'unavailable' });
    expect(inside.asked).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ['of another issuer', { issuer: 'https://accounts.example.org' }],
    ['whose sign-in page is a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['whose sign-in page is a file', { authorization_endpoint: 'file:///etc/passwd' }],
    ['whose keys are a file', { jwks_uri: 'file:///etc/passwd' }],
    ['whose tokens come from a data URL', { token_endpoint: 'data:application/json,{}' }],
  ])('with metadata %s is refused before a browser is sent there', async (_what, forged) => {
    const provider = await HostileProvider.start();
    provider.answers['/.well-known/openid-configuration'] = (_request, response) =>
      provider.json(response, { ...provider.metadata(), ...forged });
    await expect(upstreamOf(provider).authorizationUrl(proof)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('that never answers is asked once, however many people wait for it, and for five seconds at most', async () => {
    const provider = await HostileProvider.start();
    provider.answers['/.well-known/openid-configuration'] = () => undefined;
    const upstream = upstreamOf(provider);
    const startedAt = performance.now();
    const waits = Array.from({ length: 500 }, () =>
      upstream.authorizationUrl(proof).then(
        () => 'sent',
        (error: { code: string }) => error.code,
      ),
    );
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['unavailable']));
    expect(provider.asked).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});
