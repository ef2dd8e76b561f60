import { Counter, Gauge } from 'prom-client';
import type { SharedUse } from '../../../../runtime/fair-shares.ts';

/** The limit that refused a request, named as in docs/shared-resources.md. */
const WORDS = { total: 'total', party: 'team', member: 'member' } as const;

/** Metrics of resources that teams share: total, use, and refusals by limit. */
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
    all('signalbox_shared_in_use', 'Used amount of a resource of docs/shared-resources.md', (use) => use.taken),
    all('signalbox_shared_limit', 'Total amount of the resource', (use) => use.limits.total),
    new Counter({
      name: 'signalbox_shared_refusals_total',
      help: 'Refused requests for the resource, by limit: total, team or member',
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
