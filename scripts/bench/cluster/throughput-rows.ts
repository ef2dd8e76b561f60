import { HttpLoad } from '../http-load.ts';
import type { Row } from '../report.ts';
import type { BenchMembers } from './members.ts';

const CALLERS = 48;
const FOR_MS = 5000;
const JOB = JSON.stringify({
  description: 'bench',
  script: ':put 1',
  make_backup: false,
  express_execute: false,
  needs_acknowledgement: true,
});
const COMMAND = JSON.stringify({ command: '/system/identity/print', parameters: '' });

interface Throughput {
  perSecond: number;
  /** Of all nodes, for one request. */
  cpuMs: number;
}

/** The same callers at one node and at all: on a machine with few cores the ratio says what several cost, not what they bring. */
export async function throughputRows(members: BenchMembers): Promise<Row[]> {
  const { data } = await members.call<{ data: { id: string }[] }>('GET', '/api/routers?limit=100&fields=id');
  const routers = data.map(({ id }) => id);
  const rows: Row[] = [];
  for (const [what, route, body] of [
    ['commands', '/api/synchronous/', COMMAND],
    ['jobs accepted', '/api/asynchronous/', JOB],
  ] as const) {
    const one = await measure(members, 1, (turn) => [`${route}${routers[turn % routers.length]}`, body]);
    const all = await measure(members, members.nodes.length, (turn) => [`${route}${routers[turn % routers.length]}`, body]);
    rows.push({
      name: `${what} a second, callers at ${members.nodes.length} nodes to callers at one`,
      ratio: all.perSecond / one.perSecond,
      bar: undefined,
      detail: `${describe(all)}; ${describe(one)}`,
    });
  }
  return rows;
}

const describe = ({ perSecond, cpuMs }: Throughput): string => `${Math.round(perSecond)} a second, ${cpuMs.toFixed(2)} ms CPU each`;

async function measure(members: BenchMembers, nodes: number, request: (turn: number) => [string, string]): Promise<Throughput> {
  const loads = members.nodes.slice(0, nodes).map(({ url }) => new HttpLoad({ url, apiKey: members.apiKey }, CALLERS));
  const cpu = async (): Promise<number> =>
    (await Promise.all(members.nodes.map((node) => node.usage()))).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const before = await cpu();
  const begun = performance.now();
  let done = 0;
  const caller = async (index: number): Promise<void> => {
    for (let turn = index; performance.now() - begun < FOR_MS; turn += CALLERS) {
      const status = await loads[turn % loads.length]!.post(...request(turn));
      if (status !== 200) throw new Error(`a request was answered with ${status}`);
      done += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  } finally {
    for (const load of loads) load.close();
  }
  const seconds = (performance.now() - begun) / 1000;
  return { perSecond: done / seconds, cpuMs: (((await cpu()) - before) * 1000) / done };
}
