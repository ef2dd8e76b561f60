import type {
  Devices,
  Health,
  Heartbeat,
  Inventory,
  JobDeclined,
  JobGuard,
  JobResult,
  OpenJob,
  TerminalEnded,
} from '../../../protocol/index.ts';
import type { AgentListener } from '../../feature.ts';
import type { AgentConnection, AgentEvents } from '../../platform/core/agent-gateway.ts';
import type { TunnelEnd } from '../../platform/core/tunnel-record.ts';
import { InventoryOrder } from './inventory-order.ts';

interface Audience {
  /** In the order of the features. */
  listeners: readonly AgentListener[];
  storeInventory: (connection: AgentConnection, inventory: Inventory) => Promise<void>;
}

/** Passes agent events to the features in their order: the identity of routers comes before work on them. */
export class AgentEventFanOut implements AgentEvents {
  readonly #order = new InventoryOrder();
  #audience: Audience | undefined;

  /** Call before any agent can connect. */
  connect(audience: Audience): void {
    this.#audience = audience;
  }

  async onReady(connection: AgentConnection, jobs: OpenJob[]): Promise<void> {
    for (const listener of this.#listeners) await listener.onReady?.(connection, jobs);
  }

  /** In reverse order: features that depend on routers come before them. */
  onGone(connection: AgentConnection, end: TunnelEnd): void {
    this.#order.forget(connection.agentId);
    for (const listener of this.#listeners.toReversed()) listener.onGone?.(connection, end);
  }

  onHeartbeat(connection: AgentConnection, heartbeat: Heartbeat): void {
    const { agentId } = connection;
    for (const router of heartbeat.routers.filter(({ name }) => this.#order.isWaiting(agentId, name))) {
      this.#order.run(agentId, router.name, 'heartbeat', () => this.#heartbeat(connection, { ...heartbeat, routers: [router] }));
    }
    this.#heartbeat(connection, { ...heartbeat, routers: heartbeat.routers.filter(({ name }) => !this.#order.isWaiting(agentId, name)) });
  }

  #heartbeat(connection: AgentConnection, heartbeat: Heartbeat): void {
    for (const listener of this.#listeners) listener.onHeartbeat?.(connection, heartbeat);
  }

  onInventoryArrived(connection: AgentConnection, name: string): void {
    this.#order.arrived(connection.agentId, name);
  }

  async onInventory(connection: AgentConnection, inventory: Inventory): Promise<void> {
    try {
      await this.#connected.storeInventory(connection, inventory);
    } finally {
      this.#order.stored(connection.agentId, inventory.router);
    }
  }

  onHealth(connection: AgentConnection, health: Health): void {
    this.#order.run(connection.agentId, health.router, 'health', () => {
      for (const listener of this.#listeners) listener.onHealth?.(connection, health);
    });
  }

  async onDevices(connection: AgentConnection, devices: Devices): Promise<void> {
    for (const listener of this.#listeners) await listener.onDevices?.(connection, devices);
  }

  async onJobAccepted(connection: AgentConnection, jobId: string): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobAccepted?.(connection, jobId);
  }

  async onJobDeclined(connection: AgentConnection, declined: JobDeclined): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobDeclined?.(connection, declined);
  }

  async onJobBegan(connection: AgentConnection, jobId: string): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobBegan?.(connection, jobId);
  }

  async onJobEnded(connection: AgentConnection, jobId: string, result: JobResult): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobEnded?.(connection, jobId, result);
  }

  async onJobRefused(connection: AgentConnection, jobId: string): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobRefused?.(connection, jobId);
  }

  async onJobGuard(connection: AgentConnection, guard: JobGuard): Promise<void> {
    for (const listener of this.#listeners) await listener.onJobGuard?.(connection, guard);
  }

  onForwardLost(connection: AgentConnection, forwardId: string, reason: string): void {
    for (const listener of this.#listeners) listener.onForwardLost?.(connection, forwardId, reason);
  }

  onTerminalEnded(connection: AgentConnection, ended: TerminalEnded): void {
    for (const listener of this.#listeners) listener.onTerminalEnded?.(connection, ended);
  }

  get #listeners(): readonly AgentListener[] {
    return this.#connected.listeners;
  }

  get #connected(): Audience {
    if (!this.#audience) throw new Error('an agent event arrived before the features were connected');
    return this.#audience;
  }
}
