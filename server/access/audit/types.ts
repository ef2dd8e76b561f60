/** Who did what, from where, with what result. Never bodies: they may hold secrets. */
export interface AuditEntry {
  id: string;
  team_id: string;
  at: number;
  actor_kind: string;
  actor_id: string;
  source: string;
  /**
   * Method and route pattern: `POST /api/synchronous/:router_id`; or `login`, `failed login`, `logout`,
   * `accepted invitation`, `declined invitation`, `set password by link` of a person.
   */
  action: string;
  /** The path as it was asked for; of a sign-in, the client. */
  target: string | null;
  /** HTTP status of the answer; 101 for a WebSocket. */
  result: number;
  /** What was made, where the target cannot say it. */
  detail?: string | null;
}

export interface ListedAuditEntry extends AuditEntry {
  /** Name of the key or address of the user; null for a key of another team. */
  actor_name: string | null;
}

/** Every part that is given must be true of an entry. */
export interface AuditFilter {
  /** Id of a key or user. */
  actor?: string | undefined;
  /** What the action begins with. */
  action?: string | undefined;
  /** From this moment on, milliseconds. */
  since?: number | undefined;
  /** Before this moment. */
  until?: number | undefined;
}
