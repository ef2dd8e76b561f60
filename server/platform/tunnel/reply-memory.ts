import { MAX_REPLY_BYTES } from '../../../protocol/index.ts';

/**
 * Bytes of replies that have begun and are not complete, as text on the wire; as objects they take about four times as much. The
 * smallest bound holds two of the largest replies, so that a tunnel can bring a backup while somebody prints a routing table.
 */
export const UNFINISHED_REPLIES = { tunnel: 2 * MAX_REPLY_BYTES, team: 4 * MAX_REPLY_BYTES, all: 12 * MAX_REPLY_BYTES } as const;

type Full = 'replies_per_tunnel' | 'replies_per_team' | 'replies_in_all';

/** Counts what unfinished replies keep in memory, and says when there is no room for more. */
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
  /** Counts bytes that came. @returns which bound they exceed, if any; they are counted until given back all the same */
  take(bytes: number): Full | undefined;
  give(bytes: number): void;
}
