import { ProblemError } from '../../../client/browser.ts';
import type { ApiClient, Me, StreamEvent } from '../../../client/browser.ts';
import { hasRole } from '../session/roles.ts';

/** A reading that failed is tried again after this time, and after twice as long each time, milliseconds. */
const AGAIN_MS = 2000;
/** As often as a page without a stream reads. */
const LONGEST_AGAIN_MS = 30_000;

/** What became of the role while the page was open. */
export interface RoleChange {
  role: Me['role'];
  isLower: boolean;
}

/** Who is signed in. Their role may change while the page is open: what it no longer allows is then gone from the page. */
export class Who {
  #me: Me;
  #lowered = 0;
  #change: RoleChange | undefined;
  /** Number of the newest reading: an older answer that comes late says nothing. */
  #readings = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #againMs = AGAIN_MS;
  #isRefused = false;
  #isOver = false;
  readonly #api: Pick<ApiClient, 'call'>;
  readonly #onRefused: () => void;
  readonly #listeners = new Set<() => void>();

  /** @param onRefused the session may be over */
  constructor(api: Pick<ApiClient, 'call'>, me: Me, onRefused: () => void) {
    this.#api = api;
    this.#me = me;
    this.#onRefused = onRefused;
  }

  get me(): Me {
    return this.#me;
  }

  /** How often the role has become a lower one: what was asked under the former one is of no use any more. */
  get lowered(): number {
    return this.#lowered;
  }

  /** The last change, until the person has noted it. */
  get change(): RoleChange | undefined {
    return this.#change;
  }

  /** True: the control plane refused the session. Asking it again changes that only when there is a sign of a new one. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  noteChange(): void {
    this.#change = undefined;
    this.#tell();
  }

  /** Whether an event says something about this person, or anything may have happened since the last one. */
  isConcerned({ type, data }: StreamEvent): boolean {
    return type === 'resync' || (type.startsWith('member.') && data['user_id'] === this.#me.id);
  }

  /** Never rejects: without an answer the person stays who they were until a later reading, and the control plane refuses what they may not do. */
  async readAgain(): Promise<void> {
    if (this.#isOver) return;
    this.#readings += 1;
    const reading = this.#readings;
    clearTimeout(this.#again);
    const answer = await this.#api.call('whoAmI', {}).then(
      ({ data }) =>
        () =>
          this.#take(data),
      (error: unknown) => () => this.#readLater(error),
    );
    if (reading === this.#readings) answer();
  }

  /** Another session has taken the tab: nobody is read any more. */
  end(): void {
    this.#isOver = true;
    this.#readings += 1;
    clearTimeout(this.#again);
  }

  #readLater(error: unknown): void {
    this.#isRefused = isRefusal(error);
    if (this.#isRefused) return this.#onRefused();
    this.#again = setTimeout(() => void this.readAgain(), this.#againMs);
    this.#againMs = Math.min(2 * this.#againMs, LONGEST_AGAIN_MS);
  }

  #take(now: Me): void {
    this.#againMs = AGAIN_MS;
    this.#isRefused = false;
    const before = this.#me;
    if (now.role === before.role && now.installation_admin === before.installation_admin) return;
    if (now.role !== before.role) this.#takeRole(now.role);
    this.#me = now;
    this.#tell();
  }

  #takeRole(role: Me['role']): void {
    const isLower = !hasRole(role, this.#me.role);
    if (isLower) this.#lowered += 1;
    this.#change = { role, isLower };
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Of the request, or of the new token that it was to have. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProblemError) return error.status === 401;
  return error instanceof Error && isRefusal(error.cause);
}
