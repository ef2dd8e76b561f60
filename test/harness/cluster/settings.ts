import { freePort } from '../installation.ts';
import type { NatsServer } from '../nats-server.ts';

export interface ClusterSettings extends Record<string, string> {
  SIGNALBOX_BUS_URL: string;
  SIGNALBOX_NODE_PUBLIC_URL: string;
  SIGNALBOX_LISTEN: string;
}

/** What makes a control plane one of several. Agents dial channels to its own port. */
export async function clusterSettings(nats: NatsServer): Promise<ClusterSettings> {
  const address = `127.0.0.1:${await freePort()}`;
  return { SIGNALBOX_BUS_URL: nats.url, SIGNALBOX_NODE_PUBLIC_URL: `http://${address}`, SIGNALBOX_LISTEN: address };
}
