import { z } from 'zod';
import type { NotificationChanges } from './notification-changes.ts';
import type { PresenceChanges } from './presence-changes.ts';
import type { RouterFacts } from './router-facts.ts';
import type { PlacedEvent } from './service.ts';

const ofRouter = z.object({ router_id: z.string() });
const facts = z.object({
  router_id: z.string(),
  identity: z.string(),
  software_version: z.string(),
  model: z.string().nullable(),
  board_name: z.string(),
  serial_number: z.string().nullable(),
});
const replacement = z.object({ merged_router_id: z.string() });

/**
 * Learns from the events of several control planes what was published last: whoever takes a router over publishes what differs from that, and
 * nothing twice.
 */
export class PlacedEvents {
  readonly #changes: { presence: PresenceChanges; facts: RouterFacts; notifications: NotificationChanges };

  constructor(changes: { presence: PresenceChanges; facts: RouterFacts; notifications: NotificationChanges }) {
    this.#changes = changes;
  }

  onPlaced({ teamId, type, data }: PlacedEvent): void {
    const { presence, notifications } = this.#changes;
    switch (type) {
      case 'router.online':
      case 'router.offline': {
        const { data: read } = ofRouter.safeParse(JSON.parse(data));
        if (read) presence.told(read.router_id, type === 'router.online');
        return undefined;
      }
      case 'router.removed': {
        const { data: read } = ofRouter.safeParse(JSON.parse(data));
        if (read) this.#forget(read.router_id);
        return undefined;
      }
      case 'router.replaced': {
        const { data: read } = replacement.safeParse(JSON.parse(data));
        if (read) this.#forget(read.merged_router_id);
        return undefined;
      }
      case 'router.updated':
        return this.#onUpdated(data);
      case 'notification.changed':
        return notifications.told(teamId);
      default:
        return undefined;
    }
  }

  #forget(routerId: string): void {
    this.#changes.presence.forget(routerId);
    this.#changes.facts.forget(routerId);
  }

  #onUpdated(data: string): void {
    // A change of its site has none of them.
    const { data: read } = facts.safeParse(JSON.parse(data));
    if (read) this.#changes.facts.told(read.router_id, read);
  }
}
