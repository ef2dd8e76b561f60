import type { Duplex } from 'node:stream';
import type { Selectable } from 'kysely';
import type { ForwardConnectionsTable, ForwardsTable } from '../../platform/storage/schema-forwards.ts';

export type ForwardRecord = Selectable<ForwardsTable>;
export type ForwardConnectionRecord = Selectable<ForwardConnectionsTable>;

/** As the list shows it: `closed_at` is null and `ended_by` is `open` while it is open. */
export type ListedConnection = Omit<ForwardConnectionRecord, 'closed_at' | 'node_id'> & { closed_at: number | null };

/** What a caller asks for (docs/interface.md, forward). The route has checked types and ranges. */
export interface ForwardRequest {
  expireAfterMinutes: number;
  dstPort: number;
  dstAddress: string;
  allowFrom: string;
  /** Ends connections that are idle for this long, in seconds; omitted for the configured default, null for never. */
  idleSeconds?: number | null | undefined;
  /** Connections at the same time; omitted for the maximum. */
  maxConnections?: number | undefined;
}

/** A caller's change of an open forward; omitted fields stay. The route has checked types and ranges. */
export interface ForwardTerms {
  /** From now on. */
  expireAfterMinutes?: number | undefined;
  allowFrom?: string | undefined;
}

/** Who asks for a forward. */
export interface ForwardMaker {
  id: string;
  /** The client application that the person uses. */
  clientId?: string | undefined;
  /** The Idempotency-Key that the caller chose. It finds the earlier forward. */
  idempotencyKey?: string | undefined;
}

/** What a control plane carries of a forward, and what its record lacks of that. */
export interface Carried {
  /** Open connections. */
  open: number;
  /** Connections that have ended. */
  connections: number;
  /** Of open and ended ones, client to target. */
  bytesIn: number;
  /** Target to client. */
  bytesOut: number;
  refused: number;
}

/** A forward as the API shows it: the record and what is carried now. */
export interface ForwardView {
  record: ForwardRecord;
  openConnections: number;
  /** Connections so far and their bytes, including open ones. */
  connectionCount: number;
  /** Client to target. */
  bytesIn: number;
  /** Target to client. */
  bytesOut: number;
  /** Connections at the same time. */
  maxConnections: number;
  /** Name and port for TLS clients, where configured. */
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
  /** Default of `idle_seconds`; null for no limit. */
  idleSeconds: number | null;
  /** Whether an address is a load balancer that sends PROXY protocol headers. */
  isProxy?: ((address: string) => boolean) | undefined;
  /** The TLS name entry to all forwards. */
  names?: NameSettings | undefined;
}

export interface NameSettings {
  /** Forwards are `<id>.<domain>`; in lower case. */
  domain: string;
  listen: { host: string; port: number };
  /** The port that clients connect to, if it differs from the port listened on. */
  publicPort: number | undefined;
}

/** A change of a forward's record, for events and notifications. */
export interface ForwardChange {
  /**
   * `authorized`: the agent has opened the way, perhaps again. `lost`: there is no way at present, or no port. `updated`: its end or
   * its source was changed. `moved`: another control plane has it now, perhaps with another entry point or port.
   */
  kind: 'created' | 'updated' | 'authorized' | 'lost' | 'moved' | 'closed';
  forward: ForwardRecord;
}

/** What a valid channel dial gives access to. */
export interface ChannelGrant {
  forwardId: string;
  /** To a door of this control plane: the home of the forward is another one. */
  isDoor: boolean;
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
  /** No channel came in time: the agent is offline or busy. */
  | 'no_channel'
  | 'expired'
  | 'revoked'
  /** The forward no longer admits the client's address. */
  | 'source'
  /** No byte went either way for as long as the forward allows. */
  | 'idle'
  /** The control plane that carried it was killed or cut off, of several. */
  | 'node_lost'
  /** The control plane was stopped. */
  | 'shutdown';

/** A client's end of a connection. It supports half-close, and a reset that the client notices. */
export type ClientStream = Duplex & { resetAndDestroy(): unknown };

/** An open forward as entries other than its own port use it. */
export interface ConnectionAcceptor {
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
  /** `open` while it is open; `unknown` when the control plane was killed: then the other fields are the last known ones. */
  endedBy: EndedBy | 'open' | 'unknown';
}
