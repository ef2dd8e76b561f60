import type { TeamTraffic } from '../measures.ts';
import type { ConnectionSummary } from '../types.ts';

/** What went through the forwards of each team since the start: connections that have ended, until the open ones are added. */
export class ClosedTraffic {
  readonly #teams = new Map<string, TeamTraffic>();

  connectionClosed(teamId: string, { bytesIn, bytesOut }: Pick<ConnectionSummary, 'bytesIn' | 'bytesOut'>): void {
    const team = this.#of(teamId);
    team.connections += 1;
    team.bytesIn += bytesIn;
    team.bytesOut += bytesOut;
  }

  refused(teamId: string): void {
    this.#of(teamId).refused += 1;
  }

  /** With the connections that are open now. */
  with(open: Iterable<{ teamId: string; count: number; bytesIn: number; bytesOut: number }>): Map<string, TeamTraffic> {
    const sums = new Map([...this.#teams].map(([teamId, team]) => [teamId, { ...team }]));
    for (const { teamId, count, bytesIn, bytesOut } of open) {
      const sum = sums.get(teamId) ?? nothing();
      sums.set(teamId, sum);
      sum.connections += count;
      sum.openConnections += count;
      sum.bytesIn += bytesIn;
      sum.bytesOut += bytesOut;
    }
    return sums;
  }

  #of(teamId: string): TeamTraffic {
    const team = this.#teams.get(teamId) ?? nothing();
    this.#teams.set(teamId, team);
    return team;
  }
}

function nothing(): TeamTraffic {
  return { connections: 0, openConnections: 0, refused: 0, bytesIn: 0, bytesOut: 0 };
}
