import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors as joseErrors, jwtVerify } from 'jose';
import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import type { UpstreamSettings } from '../types.ts';

/** A slow provider must not hold a request for long. */
const TIMEOUT_MS = 5000;
/** Answers of providers have a few kilobytes. */
const LONGEST_ANSWER_CHARS = 256 * 1024;
const METADATA_LIFE_MS = 3600_000;
/** Asymmetric algorithms only: anyone can verify a signature, only the provider can create one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/** Browsers are sent there, and this server asks there: never a script, a file or data. */
const endpoint = z.url({ protocol: /^https?$/ });
const metadataSchema = z.object({ issuer: z.string(), authorization_endpoint: endpoint, token_endpoint: endpoint, jwks_uri: endpoint });
const tokenSchema = z.object({ id_token: z.string() });
type Metadata = z.infer<typeof metadataSchema> & { keys: ReturnType<typeof createRemoteJWKSet> };

/** Binds one sign-in at the upstream provider to one of ours. */
export interface UpstreamProof {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
}

export class UpstreamProvider {
  readonly #settings: UpstreamSettings;
  readonly #now: () => number;
  #metadata: { value: Metadata; until: number } | undefined;
  /** Under way. Everybody who signs in meanwhile waits for the same answer. */
  #loading: Promise<Metadata> | undefined;

  constructor(settings: UpstreamSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  get name(): string {
    return this.#settings.name;
  }

  /** Address to redirect the browser to. @throws AppError `unavailable` when the provider does not answer */
  async authorizationUrl({ state, nonce, verifier, redirectUri }: UpstreamProof): Promise<string> {
    const url = new URL((await this.#load()).authorization_endpoint);
    const parameters = {
      response_type: 'code',
      client_id: this.#settings.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Exchanges the code from the callback.
   * @returns the email address that the provider has verified; undefined when there is none
   * @throws AppError `unavailable` when the provider does not answer or its answer is invalid
   */
  async verifiedEmail(code: string, { nonce, verifier, redirectUri }: UpstreamProof): Promise<string | undefined> {
    const { clientId, clientSecret } = this.#settings;
    const metadata = await this.#load();
    const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier });
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
    const { id_token: token } = await this.#fetchJson(metadata.token_endpoint, tokenSchema, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body,
    });
    try {
      const options = {
        issuer: metadata.issuer,
        audience: clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
      };
      const { payload } = await jwtVerify(token, metadata.keys, { ...options, currentDate: new Date(this.#now()), clockTolerance: 30 });
      if (payload['nonce'] !== nonce) return undefined;
      const { email, email_verified: isVerified } = payload;
      return typeof email === 'string' && isVerified === true ? email : undefined;
    } catch (cause) {
      // Verification may fetch the provider's keys, so this may also be a network failure.
      const what =
        cause instanceof joseErrors.JOSEError
          ? 'the answer of the identity provider is invalid'
          : 'the keys of the identity provider cannot be read';
      throw new AppError('unavailable', what, { cause });
    }
  }

  async #load(): Promise<Metadata> {
    if (this.#metadata && this.#metadata.until > this.#now()) return this.#metadata.value;
    releaseAdmissionSlot();
    this.#loading ??= this.#discover().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #discover(): Promise<Metadata> {
    const { issuer } = this.#settings;
    const found = await this.#fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, metadataSchema);
    if (found.issuer !== issuer) throw new AppError('unavailable', 'the identity provider reports a different issuer');
    const value = {
      ...found,
      keys: createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: TIMEOUT_MS, [customFetch]: fetchShort }),
    };
    this.#metadata = { value, until: this.#now() + METADATA_LIFE_MS };
    return value;
  }

  async #fetchJson<T>(url: string, schema: z.ZodType<T>, init: RequestInit = {}): Promise<T> {
    releaseAdmissionSlot();
    try {
      const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
      const text = await readShort(answer);
      if (!answer.ok) throw new AppError('unavailable', `the identity provider answered ${answer.status}`);
      return schema.parse(JSON.parse(text));
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('unavailable', 'the identity provider did not answer as it should', { cause });
    }
  }
}

/** For jose, which reads an answer of any length. */
async function fetchShort(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  return new Response(await readShort(answer), { status: answer.type === 'opaqueredirect' ? 502 : answer.status });
}

async function readShort(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > LONGEST_ANSWER_CHARS) throw new AppError('unavailable', 'the answer of the identity provider is too long');
  }
  return text;
}
