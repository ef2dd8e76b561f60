/** A mute of facts for a time: of one router, one site, or the whole team. */
export interface Silence {
  id: string;
  teamId: string;
  /** At most one of the two; neither: the whole team. */
  routerId: string | null;
  siteId: string | null;
  /** Milliseconds since 1970; `until` is exclusive. */
  from: number;
  until: number;
  reason: string;
  createdBy: { kind: 'user' | 'api_key'; id: string };
  createdAt: number;
}

export interface NewSilence {
  routerId: string | null;
  siteId: string | null;
  /** Undefined: now. */
  from: number | undefined;
  until: number;
  reason: string;
}
