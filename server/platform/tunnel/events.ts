import type { AgentMessage } from '../../../protocol/index.ts';
import type { AgentConnection, AgentEvents } from '../core/agent-gateway.ts';

/** Messages that an agent may send unrequested once its session is ready. */
export type EventMessage = Exclude<AgentMessage, { type: 'hello' | 'ready' | 'reply' | 'rows' | 'goaway' }>;

/** Passes a message to the features; the promise, if any, resolves when they have handled it. */
export function notifyFeatures(events: AgentEvents, from: AgentConnection, message: EventMessage): Promise<void> | void {
  switch (message.type) {
    case 'heartbeat':
      return events.onHeartbeat(from, message);
    case 'inventory':
      return events.onInventory(from, message);
    case 'health':
      return events.onHealth?.(from, message);
    case 'devices':
      return events.onDevices?.(from, message);
    case 'job.accepted':
      return events.onJobAccepted(from, message.job_id);
    case 'job.declined':
      return events.onJobDeclined(from, message);
    case 'job.began':
      return events.onJobBegan(from, message.job_id);
    case 'job.ended':
      return events.onJobEnded(from, message.job_id, message.result);
    case 'job.refused':
      return events.onJobRefused(from, message.job_id);
    case 'job.guard':
      return events.onJobGuard?.(from, message);
    case 'forward.lost':
      return events.onForwardLost(from, message.forward_id, message.reason);
    case 'terminal.ended':
      return events.onTerminalEnded?.(from, message);
  }
}

/** True for messages that are handled one after the other. */
export function isOrdered(message: EventMessage): boolean {
  return message.type === 'inventory' || message.type === 'devices';
}
