/** Who did what, from where, with what result. Bodies are never recorded: they may contain secrets. */
export interface AuditEntry {
  id: string;
  team_id: string;
  at: number;
  actor_kind: string;
  actor_id: string;
  source: string;
  /**
   * Method and route pattern: `POST /api/synchronous/:router_id`; or `login`, `failed login`, `logout`,
   * `accepted invitation`, `declined invitation`, `set password by link`, `made the first account`, `proved chat by link`,
   * `took over by link` of a person, the last also of a target.
   */
  action: string;
  /** Path of the request; for a sign-in, the client. */
  target: string | null;
  /** HTTP status of the answer; 101 for a WebSocket. */
  result: number;
  /** What was created, where the target does not show it. */
  detail?: string | null;
  /** The router that it is about, if it is about one. */
  router_id?: string | null;
}

export interface ListedAuditEntry extends AuditEntry {
  /** Name of the key or address of the user; null for a key of another team. */
  actor_name: string | null;
}

/** An entry must match every field that is given. */
export interface AuditFilter {
  /** Id of a key or user. */
  actor?: string | undefined;
  /** Prefix of the action. */
  action?: string | undefined;
  /** At this time or later, milliseconds. */
  since?: number | undefined;
  /** Before this time, milliseconds. */
  until?: number | undefined;
}
