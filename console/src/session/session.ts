import { ErrorResponse } from 'oidc-client-ts';
import type { User, UserManager } from 'oidc-client-ts';
import { createManager } from './provider.ts';

/** A token is renewed when it has less than this left, seconds. It lives for 300. */
const LEAST_LEFT_S = 60;
/** The provider's words for: ask the person. */
const ASK = new Set(['login_required', 'consent_required', 'interaction_required', 'account_selection_required']);

interface Return {
  /** Where the person was, or wanted to go. */
  path: string;
}

/** The person's session with the provider, and an access token that is always fresh. */
export class Session {
  readonly #manager: UserManager;
  #renewing: Promise<string> | undefined;

  constructor(manager: UserManager = createManager()) {
    this.#manager = manager;
  }

  /** @returns where to go on, or undefined when the browser leaves for the sign-in page */
  async open(): Promise<string | undefined> {
    const here = location.pathname + location.search + location.hash;
    if (location.pathname === '/callback') {
      const user = await this.#manager.signinCallback();
      return (user?.state as Return | undefined)?.path ?? '/';
    }
    if (await this.#renewed()) return here;
    await this.signIn(here);
    return undefined;
  }

  /** An access token that is valid for another minute at least. When the session is over, the browser leaves for the sign-in page. */
  async token(): Promise<string> {
    const user = await this.#manager.getUser();
    if (user && (user.expires_in ?? 0) > LEAST_LEFT_S) return user.access_token;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async signIn(path = location.pathname + location.search): Promise<void> {
    await this.#manager.signinRedirect({ state: { path } satisfies Return });
  }

  /** Asks for the password again, for what needs a recent sign-in. */
  async signInAgain(path = location.pathname + location.search): Promise<void> {
    await this.#manager.signinRedirect({ prompt: 'login', state: { path } satisfies Return });
  }

  async signOut(): Promise<void> {
    await this.#manager.signoutRedirect();
  }

  async #renew(): Promise<string> {
    const user = await this.#renewed();
    if (user) return user.access_token;
    await this.signIn();
    // The browser is leaving.
    return new Promise(() => undefined);
  }

  /** @returns undefined when the person has to sign in */
  async #renewed(): Promise<User | undefined> {
    try {
      return (await this.#manager.signinSilent()) ?? undefined;
    } catch (error) {
      if (error instanceof ErrorResponse && ASK.has(error.error ?? '')) return undefined;
      throw error;
    }
  }
}
