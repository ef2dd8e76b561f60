import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';

/** An external identity provider where every person is signed in already; a test sets its answers. */
export class OutsideProvider {
  static readonly clientId = 'signalbox';
  static readonly secret = 'outside-secret';
  /** What the next ID token says, over what is right. */
  claims: Record<string, unknown> = {};
  /** Whether its keys cannot be asked for. */
  keysAreDown = false;
  /** Of the last token request. */
  tokenRequest: { authorization: string | undefined; form: URLSearchParams } | undefined;
  readonly #server: http.Server;
  readonly #keys: { privateKey: CryptoKey; publicKey: CryptoKey };
  /** Nonce and challenge by code. */
  readonly #codes = new Map<string, { nonce: string; challenge: string }>();

  private constructor(keys: { privateKey: CryptoKey; publicKey: CryptoKey }) {
    this.#keys = keys;
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<OutsideProvider> {
    const provider = new OutsideProvider(await generateKeyPair('ES256'));
    provider.#server.listen(0, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Where the browser is sent back to. */
  signInAt(authorizationUrl: string): string {
    const { searchParams } = new URL(authorizationUrl);
    const code = `code-${this.#codes.size}`;
    this.#codes.set(code, { nonce: searchParams.get('nonce')!, challenge: searchParams.get('code_challenge')! });
    const back = new URL(searchParams.get('redirect_uri')!);
    back.search = new URLSearchParams({ code, state: searchParams.get('state')! }).toString();
    return back.href;
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { issuer } = this;
    const json = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') {
      json(200, { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` });
    } else if (request.url === '/jwks' && this.keysAreDown) {
      response.destroy();
    } else if (request.url === '/jwks') {
      json(200, { keys: [{ ...(await exportJWK(this.#keys.publicKey)), kid: 'k1', alg: 'ES256' }] });
    } else {
      const form = new URLSearchParams(await text(request));
      this.tokenRequest = { authorization: request.headers.authorization, form };
      const known = this.#codes.get(form.get('code') ?? '');
      const isProven =
        known?.challenge ===
        createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
      if (known && isProven) json(200, { access_token: 'x', token_type: 'Bearer', id_token: await this.#idToken(known.nonce) });
      else json(400, { error: 'invalid_grant' });
    }
  }

  #idToken(nonce: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: this.issuer,
      aud: OutsideProvider.clientId,
      sub: 'x',
      iat: now,
      exp: now + 60,
      nonce,
      email: 'ada@example.org',
      email_verified: true,
    };
    return new SignJWT({ ...right, ...this.claims }).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(this.#keys.privateKey);
  }
}
