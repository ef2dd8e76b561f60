/** Who did what, from where, with what result. Never bodies: they may hold secrets. */
export interface AuditEntry {
  id: string;
  team_id: string;
  at: number;
  actor_kind: string;
  actor_id: string;
  source: string;
  /** Method and route pattern: `POST /api/synchronous/:router_id`. */
  action: string;
  /** The path as it was asked for. */
  target: string | null;
  /** HTTP status of the answer. */
  result: number;
}
