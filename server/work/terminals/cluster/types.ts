import type { Cluster } from '../../../feature.ts';

export interface TerminalCluster extends Pick<Cluster, 'nodeId' | 'bus' | 'looks' | 'members' | 'gone'> {
  /** How agents reach this control plane. */
  channelUrl: string;
}
