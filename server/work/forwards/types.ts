import type { Duplex } from 'node:stream';
import type { Selectable } from 'kysely';
import type { ForwardConnectionsTable, ForwardsTable } from '../../platform/storage/schema-forwards.ts';

export type ForwardRecord = Selectable<ForwardsTable>;
export type ForwardConnectionRecord = Selectable<ForwardConnectionsTable>;

/** As the list shows it: `closed_at` is null and `ended_by` is `open` while it goes on. */
export type ListedConnection = Omit<ForwardConnectionRecord, 'closed_at'> & { closed_at: number | null };

/** What a caller asks for (docs/interface.md, forward). The route has checked types and ranges. */
export interface ForwardRequest {
  expireAfterMinutes: number;
  dstPort: number;
  dstAddress: string;
  allowFrom: string;
  /** Ends connections through which nothing goes for so long; left out for the configured default, null for never. */
  idleSeconds?: number | null | undefined;
  /** Connections at the same time; left out for what there may be at most. */
  maxConnections?: number | undefined;
}

/** Who asks for a forward. */
export interface ForwardMaker {
  id: string;
  /** The client through which that person asks. */
  clientId?: string | undefined;
  /** The Idempotency-Key that they chose: with it they find their earlier forward again. */
  idempotencyKey?: string | undefined;
}

/** A forward as the interface shows it: the record and what only this process knows. */
export interface ForwardView {
  record: ForwardRecord;
  openConnections: number;
  /** Connections so far, and their bytes, those that are open included. */
  connectionCount: number;
  /** Client to target. */
  bytesIn: number;
  /** Target to client. */
  bytesOut: number;
  /** Connections at the same time. */
  maxConnections: number;
  /** Where TLS clients reach it by name, if they do. */
  entryName: { name: string; port: number } | undefined;
}

export interface ForwardSettings {
  /** Public name of this host: `entry_point`. */
  host: string;
  /** Address that the entry ports bind. */
  listen: string;
  /** Public ports that may be given out, both included. */
  ports: { from: number; to: number };
  /** Lets `allow_from` be a private or loopback address. */
  allowPrivateSources: boolean;
  /** What forwards get that say nothing about `idle_seconds`; null for no limit. */
  idleSeconds: number | null;
  /** Load balancers in front of the doors, which say by the PROXY protocol whose connection they bring. */
  isProxy?: ((address: string) => boolean) | undefined;
  /** One more door, to all forwards by name. */
  names?: NameSettings | undefined;
}

export interface NameSettings {
  /** Forwards are `<id>.<domain>`; in lower case. */
  domain: string;
  listen: { host: string; port: number };
  /** What clients connect to where that is not the port that is listened on. */
  publicPort: number | undefined;
}

/** What became of a forward's record; for whoever tells people. */
export interface ForwardChange {
  /** `authorized`: the agent has opened the way, perhaps once more. `lost`: there is no way at present, or no port. */
  kind: 'created' | 'authorized' | 'lost' | 'closed';
  forward: ForwardRecord;
}

/** What a channel dial is good for. */
export interface ChannelGrant {
  forwardId: string;
  agentId: string;
  teamId: string;
}

/** Why a connection through a forward ended, as its log says. */
export type EndedBy =
  /** Both sides finished properly. */
  | 'closed'
  /** The client, or the line to it, broke the connection. */
  | 'client'
  /** The target refused or broke it, or the agent could not reach it. */
  | 'target'
  /** The channel to the agent broke. */
  | 'channel'
  /** No channel came in time: the agent is away or busy. */
  | 'no_channel'
  | 'expired'
  | 'revoked'
  /** No byte went either way for as long as the forward allows. */
  | 'idle'
  /** The control plane was stopped. */
  | 'shutdown';

/** A client's end of a connection. Keeps half-close, and can be broken off so that the client sees it. */
export type ClientStream = Duplex & { resetAndDestroy(): unknown };

/** An open forward as another door than its entry port sees it. */
export interface Entrance {
  /**
   * Carries a connection like one of the entry port, without the check of its source.
   * @param ended called once when the connection is over and its stream closed
   * @returns ends it at once
   */
  accept(stream: ClientStream, source: string, ended: (endedBy: EndedBy) => void): (why: EndedBy) => void;
}

/** One connection, finished or as it is now. */
export interface ConnectionSummary {
  id: string;
  source: string;
  openedAt: number;
  closedAt: number;
  /** Client to target. */
  bytesIn: number;
  /** Target to client. */
  bytesOut: number;
  /** `open` while it goes on, and `unknown` when the control plane was killed meanwhile: then the rest is what was last known. */
  endedBy: EndedBy | 'open' | 'unknown';
}
