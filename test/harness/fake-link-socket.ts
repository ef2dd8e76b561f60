import type { LinkSocket, LinkSocketEvents, TunnelDialer } from '../../agent/link/types.ts';
import type { AgentMessage, ServerMessage } from '../../protocol/index.ts';
import { LinkError } from '../../agent/link/errors.ts';
import type { LinkErrorCode } from '../../agent/link/errors.ts';

/** The agent's side of a tunnel in memory: what it sent is in `sent`, the test plays the server. */
export class FakeLinkSocket implements LinkSocket {
  readonly sent: AgentMessage[] = [];
  bufferedAmount = 0;
  bytesRead = 0;
  readonly pings: (string | undefined)[] = [];
  closed: number | 'terminated' | undefined;
  events: LinkSocketEvents | undefined;
  /** Callbacks of messages that the kernel has not taken; called at once unless `slow`. */
  readonly unsent: (() => void)[] = [];
  slow = false;

  send(text: string, sent?: () => void): void {
    this.sent.push(JSON.parse(text) as AgentMessage);
    if (this.slow && sent) this.unsent.push(sent);
    else sent?.();
  }

  ping(mark?: string): void {
    this.pings.push(mark);
  }

  close(code: number): void {
    this.#end(code);
  }

  terminate(): void {
    this.#end('terminated');
  }

  /** The server says something. */
  say(message: ServerMessage): void {
    this.sayText(JSON.stringify(message));
  }

  sayText(text: string): void {
    this.bytesRead += text.length;
    this.events?.onText(text);
  }

  welcome(change: Partial<Extract<ServerMessage, { type: 'welcome' }>> = {}): void {
    this.say({
      type: 'welcome',
      version: 1,
      agent_id: '0198c0de-0000-7000-8000-000000000001',
      epoch: 1,
      reset: false,
      settings: { heartbeat_ms: 30_000, silence_ms: 60_000 },
      ...change,
    });
  }

  types(): string[] {
    return this.sent.map((message) => message.type);
  }

  last<T extends AgentMessage['type']>(type: T): Extract<AgentMessage, { type: T }> | undefined {
    return this.sent.findLast((message): message is Extract<AgentMessage, { type: T }> => message.type === type);
  }

  #end(how: number | 'terminated'): void {
    if (this.closed !== undefined) return;
    this.closed = how;
    queueMicrotask(() => this.events?.onClosed(typeof how === 'number' ? how : 1006));
  }
}

/** Hands out sockets in memory, or refuses. */
export class FakeDialer implements TunnelDialer {
  readonly sockets: FakeLinkSocket[] = [];
  dials = 0;
  refuse: LinkErrorCode | undefined;

  async dialTunnel<T extends LinkSocketEvents>(attach: (socket: LinkSocket) => T, signal: AbortSignal): Promise<T> {
    this.dials += 1;
    if (signal.aborted) throw new LinkError('cancelled', 'stopped');
    if (this.refuse) throw new LinkError(this.refuse, 'refused by the test');
    const socket = new FakeLinkSocket();
    this.sockets.push(socket);
    const events = attach(socket);
    socket.events = events;
    return events;
  }

  get socket(): FakeLinkSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error('nothing was dialled');
    return socket;
  }
}
