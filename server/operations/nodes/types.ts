/** A control plane that serves the database. */
export interface NodeView {
  id: string;
  name: string;
  publicUrl: string | null;
  version: string;
  state: 'up' | 'draining';
  tunnels: number;
  clients: number;
  isOnBus: boolean;
  /** Since this process has seen its beat change; null before that. */
  beatAgeMs: number | null;
  startedAt: number;
  isOwn: boolean;
}
