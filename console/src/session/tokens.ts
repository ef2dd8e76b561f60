import type { Me } from '../../../client/browser.ts';

/** A token is renewed when it has less than this left, seconds. It lives for 300. */
const LEAST_LEFT_S = 60;

const NEVER = new Promise<never>(() => undefined);

/** An access token, as the provider's answer has it. */
export interface Token {
  access_token: string;
  /** Seconds that are left. */
  expires_in?: number | undefined;
}

/** Names a person in a team. */
export function holderOf({ id, team }: Pick<Me, 'id' | 'team'>): string {
  return `${id} ${team.id}`;
}

interface Deps {
  /** @returns undefined when the person has to sign in */
  renew: () => Promise<Token | undefined>;
  /** Whose token it is, as the control plane says. */
  whoIs: (token: string) => Promise<Me>;
  /** Why nobody may sign in, from a rejection of `renew` or `whoIs`; undefined for any other. */
  denialOf: (reason: unknown) => string | undefined;
  /** Leaves for the sign-in page. */
  leave: () => Promise<void>;
}

/**
 * Access tokens of one person in one team. All tabs of a browser share one session with the provider: when another tab signs in as somebody
 * else, or to another team, it changes hands below this tab. From then on there is no token here, because the page still shows the records of
 * the first one, and would change those of the other.
 */
export class Tokens {
  readonly #deps: Deps;
  readonly #listeners = new Set<() => void>();
  #token: Token | undefined;
  #holder: string | undefined;
  #other: Me | undefined;
  #denial: string | undefined;
  #renewing: Promise<string> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Who has the browser's session now, when it is no longer the one whose records this tab shows. */
  get other(): Me | undefined {
    return this.#other;
  }

  /** Why there is no session any more, and none to be had by signing in; undefined while there is one. */
  get denial(): string | undefined {
    return this.#denial;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The first one, before anybody is held to. */
  begin(token: Token | undefined): void {
    this.#token = token;
  }

  /** From now on there are tokens of this person in this team, and no others. */
  hold(me: Me): void {
    this.#holder = holderOf(me);
  }

  /** Looks now whose the session is. Rejects while the control plane does not answer; the next token asks again. */
  async check(): Promise<void> {
    this.#token = undefined;
    await this.get();
  }

  /**
   * A token that is valid for another minute at least. When the session is over, the browser leaves for the sign-in page; when it is another
   * one's, the promise stays open, and `other` says whose.
   */
  async get(): Promise<string> {
    if (this.#other || this.#denial !== undefined) return NEVER;
    if (this.#token && (this.#token.expires_in ?? 0) > LEAST_LEFT_S) return this.#token.access_token;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(): Promise<string> {
    try {
      return await this.#ask();
    } catch (error) {
      this.#denial = this.#deps.denialOf(error);
      if (this.#denial === undefined) throw error;
      return this.#end();
    }
  }

  async #ask(): Promise<string> {
    const token = await this.#deps.renew();
    if (!token) {
      await this.#deps.leave();
      return NEVER;
    }
    const who = this.#holder === undefined ? undefined : await this.#deps.whoIs(token.access_token);
    if (who !== undefined && holderOf(who) !== this.#holder) {
      this.#other = who;
      return this.#end();
    }
    this.#token = token;
    return token.access_token;
  }

  #end(): Promise<never> {
    for (const listener of this.#listeners) listener();
    return NEVER;
  }
}
