/** How an agent misbehaves. */
export interface Behaviour {
  /** Loses its tunnel within a minute, again and again. */
  flapping: boolean;
  /** Connects and then says nothing, not even a pong. */
  silent: boolean;
  /** Answers after seconds. */
  slow: boolean;
}

/** Shares of a fleet, 0 to 1. */
export interface Shares {
  flapping: number;
  silent: number;
  slow: number;
}

/** Behaviours of `count` agents: the first ones flap, the next are silent, the next slow. */
export function behaviours(count: number, { flapping, silent, slow }: Shares): Behaviour[] {
  const [flappers, mutes, snails] = [flapping, silent, slow].map((share) => Math.round(share * count)) as [number, number, number];
  return Array.from({ length: count }, (_, index) => ({
    flapping: index < flappers,
    silent: index >= flappers && index < flappers + mutes,
    slow: index >= flappers + mutes && index < flappers + mutes + snails,
  }));
}
