import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { FairTurns } from '../../../platform/core/fair-turns.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { CampaignView } from '../types.ts';

/** A person who watches a campaign sees its figures move; a program is not flooded by a campaign over thousands of routers. */
export const REPORT_EVERY_MS = 1000;
/** Reports read at the same time: they must not delay the campaigns. */
const READ_AT_ONCE = { total: 2, perParty: 1, perMember: 1 };
/** Campaigns whose last report is known, 300 bytes each. An older one repeats its figures once. */
const KNOWN_REPORTS = 5000;

export interface ReportsDeps {
  clock: Clock;
  log: Log;
  read: (teamId: string, campaignId: string) => Promise<CampaignView>;
  publish: (view: CampaignView) => void;
}

interface CampaignKey {
  id: string;
  teamId: string;
}

/** Publishes the figures of a campaign after they changed, at most once a second for each campaign. */
export class ProgressReports {
  readonly #deps: ReportsDeps;
  readonly #turns = new FairTurns(READ_AT_ONCE);
  /** The last report of each campaign; `at` is monotonic. */
  readonly #last = new LRUCache<string, { at: number; text: string }>({ max: KNOWN_REPORTS });
  /** The next report of each campaign that is waiting for its time or being read. */
  readonly #next = new Map<string, Timer>();
  /** Campaigns that may have changed since their report was read. */
  readonly #changed = new Set<string>();
  readonly #reading = new Set<Promise<void>>();
  #stopped = false;

  constructor(deps: ReportsDeps) {
    this.#deps = deps;
  }

  /** The figures of this campaign may have changed. */
  note({ id, teamId }: CampaignKey): void {
    if (this.#stopped) return;
    if (this.#next.has(id)) {
      this.#changed.add(id);
      return;
    }
    const { clock } = this.#deps;
    const last = this.#last.get(id);
    const wait = last === undefined ? 0 : Math.max(0, last.at + REPORT_EVERY_MS - clock.monotonic());
    const timer = clock.setTimeout(() => {
      const reading = this.#report({ id, teamId }).finally(() => this.#reading.delete(reading));
      this.#reading.add(reading);
    }, wait);
    this.#next.set(id, timer);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#next.values()) timer.cancel();
    await Promise.all(this.#reading);
  }

  /** Never rejects: the next change tries again. */
  async #report({ id, teamId }: CampaignKey): Promise<void> {
    try {
      await this.#turns.run({ party: teamId, member: id }, () => this.#readAndPublish(teamId, id));
    } catch (error) {
      this.#deps.log.warn({ err: error, campaign_id: id }, 'the progress of a campaign could not be read');
    }
    this.#next.delete(id);
    if (this.#changed.delete(id)) this.note({ id, teamId });
  }

  async #readAndPublish(teamId: string, id: string): Promise<void> {
    if (this.#stopped) return;
    this.#changed.delete(id);
    const view = await this.#deps.read(teamId, id);
    const text = JSON.stringify([view.campaign.state, view.counts, view.canaries]);
    if (text === this.#last.get(id)?.text) return;
    this.#last.set(id, { at: this.#deps.clock.monotonic(), text });
    this.#deps.publish(view);
  }
}
