import { MAX_REPLY_BYTES } from '../../../protocol/index.ts';

/**
 * Bytes of incomplete replies, as text on the wire; as objects they take about four times as much. The smallest limit allows two
 * of the largest replies, so that a tunnel can transfer a backup while someone prints a routing table.
 */
export const UNFINISHED_REPLIES = { tunnel: 2 * MAX_REPLY_BYTES, team: 4 * MAX_REPLY_BYTES, all: 12 * MAX_REPLY_BYTES } as const;

type Full = 'replies_per_tunnel' | 'replies_per_team' | 'replies_in_all';

/** Counts the memory of incomplete replies, and reports when a limit is exceeded. */
export class ReplyMemory {
  readonly #byTeam = new Map<string, number>();
  #all = 0;

  /** The share of one tunnel. */
  ofTunnel(teamId: string): TunnelReplies {
    let own = 0;
    const add = (bytes: number): void => {
      own += bytes;
      this.#all += bytes;
      const team = (this.#byTeam.get(teamId) ?? 0) + bytes;
      if (team > 0) this.#byTeam.set(teamId, team);
      else this.#byTeam.delete(teamId);
    };
    return {
      take: (bytes) => {
        add(bytes);
        if (own > UNFINISHED_REPLIES.tunnel) return 'replies_per_tunnel';
        if ((this.#byTeam.get(teamId) ?? 0) > UNFINISHED_REPLIES.team) return 'replies_per_team';
        return this.#all > UNFINISHED_REPLIES.all ? 'replies_in_all' : undefined;
      },
      give: (bytes) => {
        if (bytes > 0) add(-bytes);
      },
    };
  }
}

export interface TunnelReplies {
  /** Counts received bytes. @returns the limit that they exceed, if any; they count until given back in either case */
  take(bytes: number): Full | undefined;
  give(bytes: number): void;
}
