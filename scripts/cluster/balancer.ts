import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Program } from '../demo/children.ts';
import type { ClusterPorts } from './ports.ts';

/** The rules of docs/cluster.md, as HAProxy has them. docker/haproxy.cfg is the same for production to copy. */
export function balancerConfig({ api, sandbox, nodes }: ClusterPorts, names: readonly string[]): string {
  const servers = nodes.map(({ api: port }, index) => `  server ${names[index]} 127.0.0.1:${port} check inter 1s fall 2 rise 1`);
  // Each question costs the node one to the database: they are asked once, and for the API.
  const tracking = nodes.map((node, index) => `  server ${names[index]} 127.0.0.1:${node.sandbox} track nodes/${names[index]}`);
  return `defaults
  mode http
  balance roundrobin
  option forwardfor
  option redispatch
  retries 2
  timeout connect 2s
  timeout check 2s
  timeout http-request 10s
  timeout queue 5s
  # A command takes up to 120 s, and a silent event stream says something every 30 s.
  timeout client 150s
  timeout server 150s
  # Tunnels, channels and terminals find dead ends by themselves.
  timeout tunnel 1h
  # No node is ready: the database is away, for example.
  http-error status 503 content-type application/problem+json string '{"type":"about:blank","title":"Service Unavailable","status":503,"code":"unavailable","detail":"no control plane is ready","message":"no control plane is ready"}' hdr Retry-After 2
  # A node ended before it had answered, or does not answer: what was asked may have been done.
  http-error status 502 content-type application/problem+json string '{"type":"about:blank","title":"Bad Gateway","status":502,"code":"outcome_unknown","detail":"the control plane ended before it answered","message":"the control plane ended before it answered"}'
  http-error status 504 content-type application/problem+json string '{"type":"about:blank","title":"Gateway Timeout","status":504,"code":"outcome_unknown","detail":"the control plane did not answer","message":"the control plane did not answer"}'
frontend all
  bind 127.0.0.1:${api}
  # What a client says of itself is not believed.
  http-request del-header X-Forwarded-For
  default_backend nodes
backend nodes
  option httpchk GET /readyz
${servers.join('\n')}
frontend sandbox
  bind 127.0.0.1:${sandbox}
  default_backend sandboxes
backend sandboxes
${tracking.join('\n')}
${nodes.map((node, index) => ownAddress(names[index]!, node)).join('\n')}
`;
}

/** SIGNALBOX_NODE_PUBLIC_URL: this node alone and always, also while it gets no new requests. */
function ownAddress(name: string, { own, api }: ClusterPorts['nodes'][number]): string {
  return `listen ${name}
  bind 127.0.0.1:${own}
  server ${name} 127.0.0.1:${api}`;
}

export interface BalancerOptions {
  bin: string;
  folder: string;
  ports: ClusterPorts;
  names: readonly string[];
}

/** @returns HAProxy in front of the nodes */
export async function prepareBalancer({ bin, folder, ports, names }: BalancerOptions): Promise<Program> {
  const file = path.join(folder, 'haproxy.cfg');
  await writeFile(file, balancerConfig(ports, names));
  // -db: in the foreground.
  return { name: 'haproxy', command: [bin, '-db', '-f', file], ifItEnds: 'restart' };
}
