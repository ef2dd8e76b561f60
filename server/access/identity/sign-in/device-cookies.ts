import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Browsers keep a cookie for 400 days at most. */
const LIFE_S = 400 * 24 * 3600;
/** People who share one browser; the one who signed in longest ago is forgotten first. */
const MAX_ACCOUNTS = 8;
const BROWSER_ID_BYTES = 16;

/** The account, and the time of its last password change: a new password invalidates the proof. */
export interface SignedIn {
  account: string;
  passwordSince: number;
}

/** The content of a browser's cookie: an id issued by this server, and one proof for each account that signed in there. */
export interface KnownBrowser {
  id: string;
  proofs: readonly string[];
}

export interface DeviceCookiesDeps {
  /** Cookie keys: the first signs, all are accepted. */
  keys: readonly string[];
  baseUrl: string;
  mountPath: string;
}

/**
 * Remembers from which browsers an account has signed in, after OWASP's "device cookies". The cookie gives no access. It only
 * gives the browser its own counter of wrong passwords, which strangers cannot fill. Its parts are random or keyed hashes: it
 * reveals neither who signed in nor how many accounts exist.
 */
export class DeviceCookies {
  readonly #keys: readonly Buffer[];
  readonly #name: string;
  readonly #attributes: string;

  constructor({ keys, baseUrl, mountPath }: DeviceCookiesDeps) {
    this.#keys = keys.map((key) => createHmac('sha256', key).update('device cookies').digest());
    const isSecure = new URL(baseUrl).protocol === 'https:';
    this.#name = isSecure ? '__Secure-signalbox-device' : 'signalbox-device';
    this.#attributes = `Path=${mountPath}; Max-Age=${LIFE_S}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** The browser that sent this `Cookie` header; undefined for a missing or forged cookie. */
  read(cookieHeader: string | undefined): KnownBrowser | undefined {
    const [id = '', seal = '', ...proofs] = this.#valueIn(cookieHeader ?? '').split('.');
    if (id === '' || !this.#isOurs(seal, `browser ${id}`)) return undefined;
    return { id, proofs: proofs.slice(0, MAX_ACCOUNTS) };
  }

  /** The id of the browser, if the account has signed in there with its current password. */
  proves(browser: KnownBrowser | undefined, person: SignedIn): string | undefined {
    if (!browser) return undefined;
    const text = proofText(browser.id, person);
    return browser.proofs.some((proof) => this.#isOurs(proof, text)) ? browser.id : undefined;
  }

  /** Adds a proof for this person to the browser's cookie. Proofs of other accounts stay. */
  remember(response: ServerResponse, browser: KnownBrowser | undefined, person: SignedIn): void {
    const id = browser?.id ?? randomBytes(BROWSER_ID_BYTES).toString('base64url');
    const text = proofText(id, person);
    const others = (browser?.proofs ?? []).filter((proof) => !this.#isOurs(proof, text));
    const parts = [id, this.#sign(`browser ${id}`), this.#sign(text), ...others.slice(0, MAX_ACCOUNTS - 1)];
    response.appendHeader('set-cookie', `${this.#name}=${parts.join('.')}; ${this.#attributes}`);
  }

  #valueIn(cookieHeader: string): string {
    const prefix = `${this.#name}=`;
    const pair = cookieHeader
      .split(';')
      .map((part) => part.trim())
      .find((part) => part.startsWith(prefix));
    return pair?.slice(prefix.length) ?? '';
  }

  #sign(text: string): string {
    return tag(this.#keys[0]!, text).toString('base64url');
  }

  /** Tries every key, so that a key rotation invalidates no proof. */
  #isOurs(presented: string, text: string): boolean {
    const bytes = Buffer.from(presented, 'base64url');
    return this.#keys.filter((key) => isSame(bytes, tag(key, text))).length > 0;
  }
}

function proofText(id: string, { account, passwordSince }: SignedIn): string {
  return `account ${id} ${passwordSince} ${account}`;
}

function tag(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
