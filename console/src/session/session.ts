import { ErrorResponse } from 'oidc-client-ts';
import type { User, UserManager } from 'oidc-client-ts';
import { ApiClient } from '../../../client/browser.ts';
import type { Me } from '../../../client/browser.ts';
import { createManager, denialOf } from './provider.ts';
import { Tokens, holderOf } from './tokens.ts';

/** The provider's words for: ask the person. */
const ASK = new Set(['login_required', 'consent_required', 'interaction_required', 'account_selection_required']);
/** Tabs tell each other who signed in, or that nobody is. */
const CHANNEL = 'signalbox-session';

/** For the page on which signing out ends: the other tabs ask for themselves, and leave for the sign-in page. */
export function tellSignedOut(): void {
  new BroadcastChannel(CHANNEL).postMessage('');
}

interface Return {
  /** Where the person was, or wanted to go. */
  path: string;
}

/** The person's session with the provider, and an access token that is always fresh. */
export class Session {
  readonly #manager: UserManager = createManager();
  /** Of the person who is signed in. */
  #email = '';
  readonly tokens = new Tokens({
    renew: () => this.#renewed(),
    whoIs: async (token) => (await new ApiClient({ server: location.origin, key: async () => token }).call('whoAmI', {})).data,
    denialOf,
    leave: () => this.signIn(),
  });

  /** @returns where to go on, or undefined when the browser leaves for the sign-in page */
  async open(): Promise<string | undefined> {
    const expected = expectedEmail(location.hash);
    const here = location.pathname + location.search + (expected === null ? location.hash : '');
    if (location.pathname === '/callback') {
      const user = await this.#manager.signinCallback();
      this.tokens.begin(user ?? undefined);
      return (user?.state as Return | undefined)?.path ?? '/';
    }
    const user = await this.#renewed();
    if (user) {
      this.tokens.begin(user);
      return here;
    }
    await this.signIn(here, expected ?? undefined);
    return undefined;
  }

  /** This tab shows the records of this person's team: it gets no token of anybody else, and tells the other tabs. */
  hold(me: Me): void {
    const holder = holderOf(me);
    this.tokens.hold(me);
    this.#email = me.email ?? '';
    const channel = new BroadcastChannel(CHANNEL);
    channel.addEventListener('message', ({ data }: MessageEvent<string>) => {
      // Only a question: the control plane says who it is. Without its answer, the next renewal asks again.
      if (data !== holder) this.tokens.check().catch(() => undefined);
    });
    channel.postMessage(holder);
  }

  /** As {@link Tokens.get}. */
  token(): Promise<string> {
    return this.tokens.get();
  }

  /** @param email of who is expected */
  async signIn(path = location.pathname + location.search, email?: string): Promise<void> {
    await this.#manager.signinRedirect({ ...(email === undefined ? {} : { login_hint: email }), state: { path } satisfies Return });
  }

  /** Asks for the password again, for what needs a recent sign-in. */
  async signInAgain(path = location.pathname + location.search): Promise<void> {
    await this.#manager.signinRedirect({ prompt: 'login', login_hint: this.#email, state: { path } satisfies Return });
  }

  async signOut(): Promise<void> {
    await this.#manager.signoutRedirect();
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

/** Whose first sign-in the page of a new account asks for (`#sign-in=`): a fragment is in nobody's log. */
function expectedEmail(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get('sign-in');
}
