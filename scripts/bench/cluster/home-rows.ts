import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Row } from '../report.ts';
import type { Targets } from '../targets.ts';
import type { BenchMembers } from './members.ts';
import type { OneAgent } from './one-agent.ts';

const OTHER_DOORS_SECONDS = 15;
const RAW_PORT_SECONDS = 35;
const GIVE_UP_MS = 90_000;
const LOOK_MS = 250;
const ANSWER_MS = 2000;

interface ForwardRecord {
  id: string;
  port: number;
  authorized_at: string | null;
}

/** A forward whose home is killed. Its agent is connected to another node. */
export async function homeRows(members: BenchMembers, { routerId }: OneAgent, targets: Targets): Promise<Row[]> {
  const body = { expire_after_minutes: 60, dst_port: targets.echo, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
  const route = `/api/routers/${routerId}/transient-forwarding`;
  const record = await members.call<ForwardRecord>('POST', route, body);
  const home = await homeOf(members, record.port);
  const other = members.nodes.find((node) => node !== home)!;
  await home.kill();
  const begun = performance.now();
  const seconds = async (works: () => Promise<boolean>): Promise<number> => {
    while (!(await works().catch(() => false))) {
      if (performance.now() - begun > GIVE_UP_MS) return Number.POSITIVE_INFINITY;
      await pause(LOOK_MS);
    }
    return (performance.now() - begun) / 1000;
  };
  const door = `${other.url.replace('http', 'ws')}${route}/${record.id}/connect`;
  const [byWebSocket, byPort] = await Promise.all([
    seconds(() => echoes(door, members.apiKey)),
    seconds(async () => {
      const { data } = await members.call<{ data: ForwardRecord[] }>('GET', route, undefined, { url: other.url });
      return answers(data.find(({ id }) => id === record.id)!.port);
    }),
  ]);
  await home.again();
  return [
    rowOf(`forward by WebSocket after its home was killed, to ${OTHER_DOORS_SECONDS} s`, byWebSocket, OTHER_DOORS_SECONDS),
    rowOf(`its entry port, to ${RAW_PORT_SECONDS} s`, byPort, RAW_PORT_SECONDS),
  ];
}

function rowOf(name: string, seconds: number, most: number): Row {
  return { name, ratio: seconds / most, bar: { at: 'most', value: 1 }, detail: `${seconds.toFixed(1)} s` };
}

/** Each node has entry ports of its own. */
async function homeOf(members: BenchMembers, port: number): Promise<BenchMembers['nodes'][number]> {
  const index = members.entryPorts.findIndex(({ first, last }) => port >= first && port <= last);
  const home = members.nodes[index];
  if (!home) throw new Error(`no node has the entry port ${port}`);
  return home;
}

async function echoes(door: string, apiKey: string): Promise<boolean> {
  const options = { headers: { authorization: `Bearer ${apiKey}` }, perMessageDeflate: false, handshakeTimeout: ANSWER_MS };
  const socket = new WebSocket(door, 'signalbox.connect.v1', options);
  // Also after it was given up.
  socket.on('error', () => undefined);
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(ANSWER_MS) });
    socket.send(Buffer.from('x'));
    await once(socket, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
    return true;
  } finally {
    socket.terminate();
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  try {
    socket.write('x');
    await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) });
    return true;
  } finally {
    socket.destroy();
  }
}
