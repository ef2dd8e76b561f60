import { once } from 'node:events';
import { WebSocket } from 'ws';
import { megabytes } from '../report.ts';
import type { Row } from '../report.ts';
import { interleave, median } from '../statistics.ts';
import type { Targets } from '../targets.ts';
import type { BenchMembers } from './members.ts';
import { nodesFor } from './one-agent.ts';
import type { OneAgent } from './one-agent.ts';

const AS_LOCAL = 0.95;
const SAMPLE_MS = 1000;
const ROUNDS = 5;
const WARM_UP_ROUNDS = 2;
const CONNECTION_ROUNDS = 3;

/** Forwards through the WebSocket door of the node that has the tunnel, and through that of another node. */
export async function remoteForwardRows(members: BenchMembers, agent: OneAgent, targets: Targets): Promise<Row[]> {
  const { routerId } = agent;
  const nodes = await nodesFor(members, agent);
  const open = async (dstPort: number): Promise<string> => {
    const body = { expire_after_minutes: 60, dst_port: dstPort, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
    const record = await members.call<{ id: string; authorized_at: string | null }>(
      'POST',
      `/api/routers/${routerId}/transient-forwarding`,
      body,
    );
    if (record.authorized_at === null) throw new Error(`the forward was not authorised: ${JSON.stringify(record)}`);
    return record.id;
  };
  const [source, echo] = [await open(targets.source), await open(targets.echo)];
  const door = (node: number, id: string): string =>
    `${nodes[node]!.url.replace('http', 'ws')}/api/routers/${routerId}/transient-forwarding/${id}/connect`;
  const bytes = (node: number) => () => bytesASecond(door(node, source), members.apiKey);
  const connections = (node: number) => () => connectionsASecond(door(node, echo), members.apiKey);
  await interleave(WARM_UP_ROUNDS, [bytes(0), bytes(1), connections(0), connections(1)]);
  const [near, far] = (await interleave(ROUNDS, [bytes(0), bytes(1)])).map(median) as [number, number];
  const [nearNew, farNew] = (await interleave(CONNECTION_ROUNDS, [connections(0), connections(1)])).map(median) as [number, number];
  const bar = { at: 'least' as const, value: AS_LOCAL };
  return [
    {
      name: 'bytes down a forward whose client is on another node than the tunnel, to the same node',
      ratio: far / near,
      bar,
      detail: `same node ${megabytes(near)}, another ${megabytes(far)}`,
    },
    {
      name: 'new connections of a forward whose client is on another node than the tunnel, to the same node',
      ratio: farNew / nearNew,
      bar,
      detail: `same node ${Math.round(nearNew)} a second, another ${Math.round(farNew)}`,
    },
  ];
}

async function dial(url: string, apiKey: string): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(url, 'signalbox.connect.v1', { headers, perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

async function bytesASecond(url: string, apiKey: string): Promise<number> {
  const socket = await dial(url, apiKey);
  let read = 0;
  socket.on('message', (data: Buffer) => (read += data.length));
  // The first bytes fill buffers.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const [before, begun] = [read, performance.now()];
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const rate = (read - before) / ((performance.now() - begun) / 1000);
  socket.terminate();
  return rate;
}

/** One byte there and back for each. */
async function connectionsASecond(url: string, apiKey: string): Promise<number> {
  const begun = performance.now();
  let done = 0;
  while (performance.now() - begun < SAMPLE_MS) {
    const socket = await dial(url, apiKey);
    socket.send(Buffer.from('x'));
    await once(socket, 'message');
    socket.terminate();
    done += 1;
  }
  return done / ((performance.now() - begun) / 1000);
}
