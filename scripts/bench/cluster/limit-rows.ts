import { HttpLoad } from '../http-load.ts';
import type { Row } from '../report.ts';
import type { BenchMembers } from './members.ts';

const LIMIT = 60;
const REQUESTS = 600;
const CONNECTIONS = 20;

/** Settings of the nodes for {@link limitRows}. */
export const LIMITED = { SIGNALBOX_RATE_LIMIT_PER_MINUTE: String(LIMIT) };

/** One key at all nodes at once. */
export async function limitRows(members: BenchMembers): Promise<Row[]> {
  const loads = members.nodes.map(({ url }) => new HttpLoad({ url, apiKey: members.apiKey }, CONNECTIONS));
  try {
    const begun = performance.now();
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, (_, turn) => loads[turn % loads.length]!.get('/api/sites')));
    const seconds = (performance.now() - begun) / 1000;
    const passed = statuses.filter((status) => status === 200).length;
    const others = statuses.filter((status) => status !== 200 && status !== 429).length;
    return [
      {
        name: `requests of one key that pass at ${members.nodes.length} nodes at once, to its limit of ${LIMIT}`,
        // One too few is as wrong as one too many.
        ratio: passed === LIMIT && others === 0 ? 1 : Math.max(passed / LIMIT, 1.01),
        bar: { at: 'most', value: 1 },
        detail: `${passed} of ${REQUESTS} in ${seconds.toFixed(1)} s, ${others} neither 200 nor 429`,
      },
    ];
  } finally {
    for (const load of loads) load.close();
  }
}
