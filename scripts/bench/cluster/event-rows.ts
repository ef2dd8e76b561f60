import { setTimeout as pause } from 'node:timers/promises';
import { Signalbox } from '../../../client/index.ts';
import type { Row } from '../report.ts';
import type { BenchMembers } from './members.ts';

const EVENTS_A_SECOND = 50;
const MOVE_EVERY_MS = 5000;
const FOR_MS = 60_000;
const LAST_WITHIN_MS = 15_000;

/** A reader that goes to another node every 5 s, with the id of the last event that it has heard. */
export async function eventRows(members: BenchMembers): Promise<Row[]> {
  const heard: string[] = [];
  let resyncs = 0;
  let last = '';
  const over = new AbortController();
  const opened = Promise.withResolvers<void>();
  const reading = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const client = new Signalbox({ server: members.nodes[turn % members.nodes.length]!.url, key: members.apiKey });
      const stop = AbortSignal.any([over.signal, AbortSignal.timeout(MOVE_EVERY_MS)]);
      try {
        const options = { types: ['site.updated' as const], signal: stop, onOpen: () => opened.resolve() };
        for await (const event of client.events(last === '' ? options : { ...options, lastEventId: last })) {
          last = event.id === '' ? last : event.id;
          if (event.type === 'site.updated') heard.push(nameIn(event.data));
          else resyncs += 1;
        }
      } catch (error) {
        if (!stop.aborted) throw error;
      }
    }
  })();
  reading.catch(() => undefined);
  await opened.promise;
  const expected = await writeNames(members, performance.now() + FOR_MS);
  const giveUpAt = performance.now() + LAST_WITHIN_MS;
  while (heard.at(-1) !== expected.at(-1) && performance.now() < giveUpAt) await pause(100);
  over.abort();
  await reading;
  const wrong = differences(expected, heard) + resyncs;
  return [
    {
      name: 'events that a reader who moves between nodes every 5 s misses, gets twice or out of order',
      ratio: wrong,
      bar: { at: 'most', value: 0 },
      detail: `${heard.length} heard of ${expected.length} in ${FOR_MS / 1000} s, ${resyncs} times resync`,
    },
  ];
}

/** Renames a site, each time through another node. @returns the names in their order */
async function writeNames(members: BenchMembers, until: number): Promise<string[]> {
  const { data: site } = await members.call<{ data: { id: string } }>('POST', '/api/sites', {
    name: 'moving',
    latitude: 0,
    longitude: 0,
    time_zone: 'UTC',
  });
  const names: string[] = [];
  const begun = performance.now();
  for (let turn = 0; performance.now() < until; turn += 1) {
    const name = `site ${turn}`;
    await members.call('PATCH', `/api/sites/${site.id}`, { name }, { url: members.nodes[turn % members.nodes.length]!.url });
    names.push(name);
    await pause(Math.max(0, begun + ((turn + 1) * 1000) / EVENTS_A_SECOND - performance.now()));
  }
  return names;
}

function nameIn(data: Record<string, unknown>): string {
  const { name, site } = data as { name?: string; site?: { name: string } };
  return name ?? site?.name ?? JSON.stringify(data);
}

/** How many places differ. */
function differences(expected: readonly string[], heard: readonly string[]): number {
  const length = Math.max(expected.length, heard.length);
  let count = 0;
  for (let at = 0; at < length; at += 1) if (expected[at] !== heard[at]) count += 1;
  return count;
}
