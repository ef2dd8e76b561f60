import { FORWARD_PORTS, FORWARDS_FROM } from '../demo/ports.ts';
import type { RouterPorts } from '../demo/ports.ts';

export const NODES = 3;

export interface ClusterPorts {
  /** Of the balancer: people, programs and agents. */
  api: number;
  sandbox: number;
  /** As many as there are agents. */
  routers: readonly RouterPorts[];
  /** Of the mail server that keeps mails as files. */
  mail: number;
  postgres: number;
  nats: number;
  nodes: readonly NodePorts[];
}

export interface NodePorts {
  /** Where the node itself listens. */
  api: number;
  sandbox: number;
  /** Of the balancer: leads to this node and to no other, whatever its state. */
  own: number;
  /** Inclusive; no other node opens these. */
  forwards: { first: number; last: number };
}

export function clusterPortsOf(first: number): ClusterPorts {
  const entryPorts = FORWARD_PORTS / NODES;
  return {
    api: first,
    sandbox: first + 1,
    routers: [2, 4, 7].map((offset) => ({ api_port: first + offset, ssh_port: first + offset + 1 })),
    mail: first + 6,
    postgres: first + 9,
    nats: first + 10,
    nodes: Array.from({ length: NODES }, (_, index) => ({
      api: first + 11 + 3 * index,
      sandbox: first + 12 + 3 * index,
      own: first + 13 + 3 * index,
      forwards: { first: first + FORWARDS_FROM + index * entryPorts, last: first + FORWARDS_FROM + (index + 1) * entryPorts - 1 },
    })),
  };
}

/** Where the cluster listens from its start. */
export function listenedPorts(first: number): number[] {
  const { api, sandbox, routers, mail, postgres, nats, nodes } = clusterPortsOf(first);
  return [
    api,
    sandbox,
    mail,
    postgres,
    nats,
    ...routers.flatMap(({ api_port, ssh_port }) => [api_port, ssh_port]),
    ...nodes.flatMap((node) => [node.api, node.sandbox, node.own]),
  ];
}
