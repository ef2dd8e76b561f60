import type { AgentMessage } from '../../../protocol/index.ts';
import type { AgentConnection, AgentEvents } from '../core/agent-gateway.ts';

/** What an agent may say of its own accord once its session is ready. */
export type EventMessage = Exclude<AgentMessage, { type: 'hello' | 'ready' | 'reply' | 'rows' | 'goaway' }>;

/** Tells the features; the promise, if any, settles when they have taken it in. */
export function tellFeatures(events: AgentEvents, from: AgentConnection, message: EventMessage): Promise<void> | void {
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
    case 'forward.lost':
      return events.onForwardLost(from, message.forward_id, message.reason);
  }
}

/** Messages whose handling the agent's next of their kind waits for. */
export function isWritten(message: EventMessage): boolean {
  return message.type === 'inventory' || message.type === 'devices';
}
