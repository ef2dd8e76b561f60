import pino from 'pino';
import type { Role } from '../../server/platform/core/principal.ts';
import { createApp } from '../../server/platform/http/app.ts';
import type { App } from '../../server/platform/http/app.ts';
import { identifyCaller, requireCaller, requireRole } from '../../server/platform/http/authentication.ts';

export interface TeamAnswer {
  status: number;
  headers: Record<string, unknown>;
  // The tests say what they expect of it.
  body: Record<string, unknown>;
}

/** An HTTP application with some features' routes only, asked without a socket. */
export class TeamApp {
  readonly app: App = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });

  /** The bearer is `<team>/<role>` for a key, and `<team>/<role>/<id>` for a person. */
  constructor(register: (app: App) => void) {
    void this.app.register(async (instance) => {
      const scope = instance as App;
      identifyCaller(scope, async (bearer) => {
        const [teamId = '', role = '', userId] = bearer.split('/');
        const who = userId === undefined ? { kind: 'api_key' as const, id: bearer } : { kind: 'user' as const, id: userId };
        return { ...who, teamId, role: role as Role };
      });
      requireCaller(scope);
      requireRole(scope);
      register(scope);
    });
  }

  async ask(
    teamId: string,
    method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    body?: object,
    role: Role = 'admin',
  ): Promise<TeamAnswer> {
    const answer = await this.app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${teamId}/${role}` },
      ...(body === undefined ? {} : { payload: body }),
    });
    const parsed = answer.body === '' ? {} : answer.json<Record<string, unknown>>();
    return { status: answer.statusCode, headers: answer.headers, body: parsed };
  }

  get(teamId: string, url: string): Promise<TeamAnswer> {
    return this.ask(teamId, 'GET', url);
  }
}
