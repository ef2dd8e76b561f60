import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** Browsers keep a cookie for 400 days at most. */
const LIFE_S = 400 * 24 * 3600;
/** People who share one browser; the one who signed in longest ago is forgotten first. */
const MAX_ACCOUNTS = 8;
const BROWSER_ID_BYTES = 16;

/** Whose password, and since when it is that one: a new password makes the proof worthless. */
export interface SignedIn {
  account: string;
  passwordSince: number;
}

/** What a browser presents: an id that only we could have given it, and one proof for each account that signed in there. */
export interface KnownBrowser {
  id: string;
  proofs: readonly string[];
}

export interface DeviceCookiesDeps {
  /** Keys for cookies: the first signs, every one is accepted. */
  keys: readonly string[];
  baseUrl: string;
  mountPath: string;
}

/**
 * Remembers from which browsers an account has signed in, after OWASP's "device cookies". The cookie gives no access. It only
 * gives the browser its own count of wrong passwords, which strangers cannot use up. Its parts are random or keyed hashes: it
 * says neither who signed in nor how many accounts exist here.
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

  /** The browser that sent this `Cookie` header; undefined when it has no cookie of ours or a changed one. */
  read(cookieHeader: string | undefined): KnownBrowser | undefined {
    const [id = '', seal = '', ...proofs] = this.#valueIn(cookieHeader ?? '').split('.');
    if (id === '' || !this.#isOurs(seal, `browser ${id}`)) return undefined;
    return { id, proofs: proofs.slice(0, MAX_ACCOUNTS) };
  }

  /** A name for this browser and account together, if the account has signed in there with its present password. */
  proves(browser: KnownBrowser | undefined, person: SignedIn): string | undefined {
    if (!browser) return undefined;
    const text = proofText(browser.id, person);
    return browser.proofs.some((proof) => this.#isOurs(proof, text)) ? browser.id : undefined;
  }

  /** Has the browser remember that this person signed in. Proofs of others who use it stay. */
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

  /** With every key, so that changing keys costs nobody the proof. */
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
