import { FewSet } from '../../platform/core/few.ts';

/** Routers with a complete report that the present tunnels of their agents keep up to date. */
export class FollowedRouters {
  readonly #byAgent = new Map<string, FewSet<string>>();
  /** By how many agents: a router that moves may be followed by two for a moment. */
  readonly #counts = new Map<string, number>();

  has(routerId: string): boolean {
    return this.#counts.has(routerId);
  }

  all(): string[] {
    return [...this.#counts.keys()];
  }

  add(agentId: string, routerId: string): void {
    const routers = this.#byAgent.get(agentId) ?? new FewSet<string>();
    this.#byAgent.set(agentId, routers);
    if (routers.has(routerId)) return;
    routers.add(routerId);
    this.#counts.set(routerId, (this.#counts.get(routerId) ?? 0) + 1);
  }

  /** The agent's tunnel has ended. @returns what it followed */
  dropAgent(agentId: string): string[] {
    const routers = [...(this.#byAgent.get(agentId) ?? [])];
    this.#byAgent.delete(agentId);
    for (const routerId of routers) this.#drop(routerId);
    return routers;
  }

  /** The router was removed or replaced; its successor, if any, is followed in its place. */
  forget(routerId: string, successorId?: string): void {
    if (!this.has(routerId)) return;
    for (const [agentId, routers] of this.#byAgent) {
      if (!routers.delete(routerId)) continue;
      this.#drop(routerId);
      if (successorId !== undefined) this.add(agentId, successorId);
    }
  }

  #drop(routerId: string): void {
    const left = (this.#counts.get(routerId) ?? 0) - 1;
    if (left > 0) this.#counts.set(routerId, left);
    else this.#counts.delete(routerId);
  }
}
