import type { ApiClient } from '../../../client/browser.ts';
import { chooseTheme, readTheme } from '../look/theme.ts';
import type { ThemeChoice } from '../look/theme.ts';
import { isTimeZone, showTimesIn } from '../parts/times.ts';

/** What a person has chosen. The control plane keeps it for every browser, beside what other applications keep there. */
export interface Chosen {
  theme?: ThemeChoice;
  /** IANA name of the zone in which times are shown; undefined: the browser's. */
  timeZone?: string | undefined;
  /** Id of the saved view with which the list of routers opens; undefined: all routers. */
  routersView?: string | undefined;
}

/** Part of the preferences that is this application's. */
const OURS = 'console';

export class Preferences {
  #chosen: Chosen;
  readonly #api: ApiClient;
  readonly #listeners = new Set<() => void>();
  /** Ends with the last choice that is being kept. */
  #kept: Promise<unknown> = Promise.resolve();

  private constructor(api: ApiClient, chosen: Chosen) {
    this.#api = api;
    this.#chosen = chosen;
    apply(chosen);
  }

  /** Without an answer the browser's own choices hold: nobody waits for a colour. */
  static async read(api: ApiClient): Promise<Preferences> {
    return new Preferences(
      api,
      await api.call('getPreferences', {}).then(
        ({ data }) => readChosen(data[OURS]),
        () => ({}),
      ),
    );
  }

  get chosen(): Chosen {
    return this.#chosen;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Shows it at once, then keeps it. @throws ProblemError, ConnectionError when it could not be kept */
  async choose(change: Chosen): Promise<void> {
    this.#chosen = { ...this.#chosen, ...change };
    apply(this.#chosen);
    for (const listener of this.#listeners) listener();
    // One after the other: each is a change of what the one before has left.
    const kept = this.#kept.then(() => this.#keep(change));
    this.#kept = kept.catch(() => undefined);
    await kept;
  }

  /** What other applications, browsers and tabs have written meanwhile stays. */
  async #keep(change: Chosen): Promise<void> {
    const { data } = await this.#api.call('getPreferences', {});
    await this.#api.call('putPreferences', { body: { ...data, [OURS]: written({ ...readChosen(data[OURS]), ...change }) } });
  }
}

function apply({ theme, timeZone }: Chosen): void {
  if (theme !== undefined) chooseTheme(theme);
  showTimesIn(timeZone);
}

/** Anybody may write there. */
function readChosen(value: unknown): Chosen {
  const {
    theme,
    time_zone: zone,
    routers_view: view,
  } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const known = readTheme(theme);
  return {
    ...(known === undefined ? {} : { theme: known }),
    ...(typeof zone === 'string' && isTimeZone(zone) ? { timeZone: zone } : {}),
    ...(typeof view === 'string' ? { routersView: view } : {}),
  };
}

function written({ theme, timeZone, routersView }: Chosen): Record<string, string> {
  return {
    ...(theme === undefined ? {} : { theme }),
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(routersView === undefined ? {} : { routers_view: routersView }),
  };
}
