import { expect } from 'vitest';
import { TerminalClient } from './terminal-client.ts';
import type { OpenedTerminal } from './terminal-client.ts';
import { waitUntil } from './wait-until.ts';
import type { Caller, World } from './world.ts';

/** What tests read of a terminal. */
export interface ShownTerminal extends OpenedTerminal {
  router_id: string;
  level: string;
  reason: string;
  status: string;
  attached: boolean;
  away: boolean;
  end_reason: string | null;
  recording: string;
  output_bytes: number;
}

type Call = Pick<Caller, 'call'>;

/** Requests about terminals, by the world's own key unless told otherwise. */
export class Terminals {
  readonly #world: Pick<World, 'caller' | 'server'>;

  /** @param world for one of several control planes: that one, and a caller of it */
  constructor(world: Pick<World, 'caller' | 'server'>) {
    this.#world = world;
  }

  async open(routerId: string, level: 'read' | 'full' = 'read', by: Call = this.#world.caller): Promise<ShownTerminal> {
    const wanted = { level, reason: 'a test looks at it' };
    // An agent that has just been restarted may be on its way.
    const { status, body } = await waitUntil('the agent answers', async () => {
      const answer = await by.call<{ data: ShownTerminal }>('POST', `/api/routers/${routerId}/terminals`, wanted);
      return answer.status === 503 ? undefined : answer;
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  async read(id: string): Promise<ShownTerminal> {
    return (await this.#world.caller.call<{ data: ShownTerminal }>('GET', `/api/terminals/${id}`)).body.data;
  }

  async end(id: string): Promise<void> {
    expect((await this.#world.caller.call('DELETE', `/api/terminals/${id}`)).status).toBe(204);
  }

  async attach(opened: OpenedTerminal): Promise<TerminalClient> {
    const client = await TerminalClient.attach(this.#world.server.url, opened);
    expect(client.refused).toBeUndefined();
    return client;
  }

  /** Opens one and waits for its prompt. */
  async atPrompt(routerId: string, level: 'read' | 'full' = 'read', by?: Call): Promise<{ opened: ShownTerminal; client: TerminalClient }> {
    const opened = await this.open(routerId, level, by);
    const client = await this.attach(opened);
    await client.sees('>');
    return { opened, client };
  }

  /** Another ticket, as a page gets one after a reload. */
  async ticketOf(id: string): Promise<ShownTerminal> {
    const { status, body } = await this.#world.caller.call<{ data: ShownTerminal }>('POST', `/api/terminals/${id}/tickets`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  async recordingOf(id: string): Promise<string> {
    const answer = await this.#world.caller.call<string>('GET', `/api/terminals/${id}/recording`);
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** What the recording shows, without times. */
  async recordedText(id: string): Promise<string> {
    const [, ...events] = (await this.recordingOf(id)).trim().split('\n');
    return events
      .map((line) => JSON.parse(line) as [number, string, string])
      .filter(([, kind]) => kind === 'o')
      .map(([, , text]) => text)
      .join('');
  }

  async endsWith(id: string, reason: string): Promise<void> {
    const ended = await waitUntil('the terminal has ended', async () => {
      const now = await this.read(id);
      return now.status === 'ended' ? now : undefined;
    });
    expect(ended.end_reason).toBe(reason);
  }
}

/** Whether a simulated router has a session of this user. */
export function hasSession(world: Pick<World, 'simulators'>, user: string, index = 0): boolean {
  return world.simulators[index]!.router.sessions.list().some(({ session }) => session.user === user);
}
