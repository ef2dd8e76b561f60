/** A value of one team, with further labels; the export adds the label `team`. */
export interface TeamValue {
  teamId: string;
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** Counts per team since the start, for the metrics. Its size is bounded by the teams and by the values of one label. */
export class TeamCounts {
  readonly #label: string | undefined;
  readonly #counts = new Map<string, Map<string, number>>();

  /** @param label name of the one further label, if there is one */
  constructor(label?: string) {
    this.#label = label;
  }

  add(teamId: string, by = 1, labelValue = ''): void {
    const ofTeam = this.#counts.get(teamId) ?? new Map<string, number>();
    this.#counts.set(teamId, ofTeam.set(labelValue, (ofTeam.get(labelValue) ?? 0) + by));
  }

  values(): TeamValue[] {
    return [...this.#counts].flatMap(([teamId, ofTeam]) =>
      [...ofTeam].map(([word, value]) => ({ teamId, value, ...(this.#label === undefined ? {} : { labels: { [this.#label]: word } }) })),
    );
  }
}
