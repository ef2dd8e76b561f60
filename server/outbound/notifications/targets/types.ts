import type { Addresses, ChannelName } from '../channels/types.ts';

/** Channels that lead to a place of the team and not to a person. */
export const TARGET_CHANNELS = [
  'slack',
  'teams',
  'webhook',
  'pagerduty',
  'ntfy',
  'gotify',
  'telegram',
] as const satisfies readonly ChannelName[];
export type TargetChannel = (typeof TARGET_CHANNELS)[number];

/** What is stored of a target's address. The secrets that sign a webhook are the team's own. */
export type TargetAddress = {
  [N in TargetChannel]: { channel: N } & (N extends 'webhook' ? Pick<Addresses['webhook'], 'url'> : Addresses[N]);
}[TargetChannel];

/** What a caller gives of an address; the channel decides which fields it needs. */
export interface GivenAddress {
  url?: string | undefined;
  topic?: string | undefined;
  token?: string | null | undefined;
  routing_key?: string | undefined;
  region?: 'us' | 'eu' | undefined;
  chat_id?: string | undefined;
}

/** An address of the team that is nobody's own. */
export interface Target {
  id: string;
  teamId: string;
  name: string;
  channel: TargetChannel;
  /** The address without its secrets. */
  shown: string;
  addressKey: string;
  /** Addresses with the same one share a rate; null: its own. */
  bucket: string | null;
  verifiedAt: number | null;
  offReason: string | null;
  offAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** With its address as it is stored: encrypted. */
export interface StoredTarget extends Target {
  address: string;
}

export interface NewTarget {
  name: string;
  channel: TargetChannel;
  address: GivenAddress;
}

export interface TargetChange {
  name?: string | undefined;
  address?: GivenAddress | undefined;
}
