import { Counter, Gauge } from 'prom-client';
import type { SharedUse } from '../../../../runtime/fair-shares.ts';

/** What is in the way of whoever is refused, in the words of docs/shared-resources.md. */
const WORDS = { total: 'total', party: 'team', member: 'member' } as const;

/** Metrics of what teams share: how much of it there is, how much is taken, and who was refused by which limit. */
export function sharedResourceMetrics(watched: ReadonlyMap<string, SharedUse>): (Counter | Gauge)[] {
  const all = (name: string, help: string, valueOf: (use: SharedUse) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers: [],
      collect() {
        for (const [resource, use] of watched) this.set({ resource }, valueOf(use));
      },
    });
  return [
    all('signalbox_shared_in_use', 'How much of a resource of docs/shared-resources.md is taken', (use) => use.taken),
    all('signalbox_shared_limit', 'How much there is of it', (use) => use.limits.total),
    new Counter({
      name: 'signalbox_shared_refusals_total',
      help: 'How often somebody got nothing of it, by the limit that was in the way: total, team or member',
      labelNames: ['resource', 'limit'],
      registers: [],
      collect() {
        this.reset();
        for (const [resource, { refusals }] of watched) {
          for (const [limit, word] of Object.entries(WORDS)) this.inc({ resource, limit: word }, refusals[limit as keyof typeof WORDS]);
        }
      },
    }),
  ];
}
