import type { AgentMessage, ServerMessage } from '../../protocol/index.ts';
import type { TunnelSession } from '../../server/platform/tunnel/session.ts';
import type { TunnelSocket } from '../../server/platform/tunnel/types.ts';

/** The server's side of a tunnel in memory: what it sent is in `sent`, the test plays the agent. */
export class FakeTunnelSocket implements TunnelSocket {
  readonly sent: ServerMessage[] = [];
  bufferedAmount = 0;
  bytesRead = 0;
  bytesWritten = 0;
  pings = 0;
  pongs = 0;
  paused = false;
  closed: { code: number; reason: string } | 'terminated' | undefined;
  /** Set by the test once the session exists. */
  session: TunnelSession | undefined;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ServerMessage);
  }

  ping(): void {
    this.pings += 1;
  }

  pong(): void {
    this.pongs += 1;
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  terminate(): void {
    this.closed ??= 'terminated';
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  /** The agent says something. */
  say(message: AgentMessage): void {
    this.sayText(JSON.stringify(message));
  }

  sayText(text: string): void {
    this.bytesRead += text.length;
    this.session?.onText(text);
  }

  /** The last message of a type that the server sent. */
  last<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }> | undefined {
    return this.sent.findLast((message): message is Extract<ServerMessage, { type: T }> => message.type === type);
  }

  types(): string[] {
    return this.sent.map((message) => message.type);
  }
}
