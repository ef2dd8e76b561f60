/** Time of a router in each state within a range, milliseconds. The values add up to its length. */
export interface Shares {
  answering: number;
  not_answering: number;
  agent_away: number;
  /** No control plane was running, or the router had never been reported. */
  unknown: number;
}

export type Share = keyof Shares;

/** From then until then, milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

export interface Bucket extends Span {
  shares: Shares;
}

export const BUCKET_SIZES = ['hour', 'day', 'week'] as const;
export type BucketSize = (typeof BUCKET_SIZES)[number];

export interface Availability {
  routerId: string;
  /** In which days and weeks begin. */
  timeZone: string;
  buckets: Bucket[];
}
