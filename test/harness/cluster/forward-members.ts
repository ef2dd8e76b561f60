import { once } from 'node:events';
import net from 'node:net';
import { WebSocket } from 'ws';
import type { RunningServer } from '../../../server/compose/start.ts';
import type { World } from '../world.ts';
import { waitUntil } from '../wait-until.ts';
import type { ClusterOfMembers } from './members.ts';

/** A forward as the interface shows it. */
export interface ShownForward {
  id: string;
  port: number;
  entry_point: string;
  authorized_at: string | null;
  closed_at: string | null;
  allow_only_cidr: string;
  expires_at: string;
  way: string | null;
  way_reason: string | null;
  open_connections: number;
  connection_count: number;
  bytes_in: number;
  refused_attempts: number;
}

/** Forwards of the one router of some control planes in one process. */
export class ForwardMembers {
  readonly world: World;
  readonly nodes: RunningServer[];
  readonly routerId: string;
  readonly targetPort: number;

  private constructor(parts: Pick<ForwardMembers, 'world' | 'nodes' | 'routerId' | 'targetPort'>) {
    this.world = parts.world;
    this.nodes = parts.nodes;
    this.routerId = parts.routerId;
    this.targetPort = parts.targetPort;
  }

  /** With a target that echoes. @param closers called by the test at its end, the last one first */
  static async of({ world, nodes }: ClusterOfMembers, closers: (() => Promise<void>)[]): Promise<ForwardMembers> {
    const [routerId] = await world.routerIds();
    const target = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    closers.push(async () => void target.close());
    await waitUntil('all know each other', () => nodes.every(({ services }) => services.cluster!.members.ids.length === nodes.length));
    return new ForwardMembers({ world, nodes, routerId: routerId!, targetPort: (target.address() as net.AddressInfo).port });
  }

  get path(): string {
    return `/api/routers/${this.routerId}/transient-forwarding`;
  }

  async create(node: RunningServer, more: object = {}): Promise<ShownForward> {
    const body = { expire_after_minutes: 10, dst_port: this.targetPort, dst_address: '127.0.0.1', allow_from: '127.0.0.1', ...more };
    const answer = await this.world.callerAt(node).call<ShownForward>('POST', this.path, body);
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async get(node: RunningServer, id: string): Promise<ShownForward> {
    return (await this.world.callerAt(node).call<ShownForward>('GET', `${this.path}/${id}`)).body;
  }

  async change(node: RunningServer, id: string, body: object): Promise<number> {
    return (await this.world.callerAt(node).call('PATCH', `${this.path}/${id}`, body)).status;
  }

  async revoke(node: RunningServer, id: string): Promise<number> {
    return (await this.world.callerAt(node).call('DELETE', `${this.path}/${id}`)).status;
  }

  /** The home of a forward, as its record says. */
  async home(id: string): Promise<RunningServer | undefined> {
    const { db } = this.world.server.services.storage;
    const record = await db.selectFrom('forwards').select('node_id').where('id', '=', id).executeTakeFirstOrThrow();
    return this.nodes.find(({ services }) => services.cluster!.nodeId === record.node_id);
  }

  /** The agent has its tunnel here. */
  async moveAgent(node: RunningServer): Promise<void> {
    await this.world.agent!.close();
    await this.world.startAgent({ server: node.url });
    await waitUntil('the agent is ready', () => this.has(node));
  }

  async has(node: RunningServer): Promise<boolean> {
    const { agent_id: agentId } = await node.services.routers.getRouter(this.world.caller.teamId, this.routerId);
    return node.services.gateway.epoch(agentId) !== undefined;
  }

  /** One connection to a forward over a WebSocket at a control plane. */
  connect(node: RunningServer, id: string): WebSocket {
    const ws = new WebSocket(`${node.url.replace('http', 'ws')}${this.path}/${id}/connect`, 'signalbox.connect.v1', {
      headers: { authorization: `Bearer ${this.world.caller.apiKey}` },
      perMessageDeflate: false,
    });
    ws.on('error', () => undefined);
    return ws;
  }

  /** HTTP status of a refused connection over a WebSocket. */
  async refusal(node: RunningServer, id: string): Promise<number> {
    const ws = this.connect(node, id);
    const [, response] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode: number }];
    ws.terminate();
    return response.statusCode;
  }
}

/** A client of an entry port that has got its first bytes back. */
export async function talk(port: number): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write('hello');
  const [data] = (await Promise.race([
    once(socket, 'data'),
    closeOf(socket).then(() => {
      throw new Error(`the connection to port ${port} was closed`);
    }),
  ])) as [Buffer];
  if (data.toString() !== 'hello') throw new Error(`another answer: ${data.toString()}`);
  return socket;
}

/** Resolves when a connection is over, however it ended. */
export function closeOf(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** Whether anything accepts connections there. */
export async function isOpen(port: number): Promise<boolean> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  const opened = await new Promise<boolean>((resolve) => socket.once('connect', () => resolve(true)).once('error', () => resolve(false)));
  socket.destroy();
  return opened;
}
