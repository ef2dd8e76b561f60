import type { ApiClient, Me, StreamEvent } from '../../../client/browser.ts';
import { hasRole } from '../session/roles.ts';

/** Who is signed in. Their role may change while the page is open: what it no longer allows is then gone from the page. */
export class Who {
  #me: Me;
  #lowered = 0;
  /** Number of the newest reading: an older answer that comes late says nothing. */
  #readings = 0;
  readonly #api: Pick<ApiClient, 'call'>;
  readonly #listeners = new Set<() => void>();

  constructor(api: Pick<ApiClient, 'call'>, me: Me) {
    this.#api = api;
    this.#me = me;
  }

  get me(): Me {
    return this.#me;
  }

  /** How often the role has become a lower one: what was opened or typed under the former one is of no use any more. */
  get lowered(): number {
    return this.#lowered;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Whether an event says something about this person, or anything may have happened since the last one. */
  isConcerned({ type, data }: StreamEvent): boolean {
    return type === 'resync' || (type.startsWith('member.') && data['user_id'] === this.#me.id);
  }

  /** Never rejects: without an answer the person stays who they were, and the control plane refuses what they may not do. */
  async readAgain(): Promise<void> {
    this.#readings += 1;
    const reading = this.#readings;
    const { data: now } = await this.#api.call('whoAmI', {}).catch(() => ({ data: this.#me }));
    if (reading !== this.#readings || now.role === this.#me.role) return;
    if (!hasRole(now.role, this.#me.role)) this.#lowered += 1;
    this.#me = now;
    for (const listener of this.#listeners) listener();
  }
}
