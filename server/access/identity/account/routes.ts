import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import { ROLES } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { IdentityService } from '../service.ts';

/** The limits are teams/passwords.ts's; these only keep the body small. */
const LONGEST_PASSWORD = 256;

const example = {
  id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  kind: 'user' as const,
  email: 'ada@example.org',
  role: 'operator' as const,
  team: { id: '01a1fb8f-0000-7b54-8c11-d4f2a6c8e0b2', name: 'Depot' },
};
const meSchema = z
  .object({
    id: z.string().describe('Of the user or the API key: what the audit log calls the actor'),
    kind: z.enum(['user', 'api_key']),
    email: z.string().nullable().describe('Null for an API key'),
    role: z.enum(ROLES).describe('What this credential may do at this moment'),
    team: z.object({ id: z.string(), name: z.string() }),
  })
  .meta({ id: 'Me', examples: [example] });

const password = z.string().max(LONGEST_PASSWORD);
const passwordBody = z
  .object({
    current_password: password,
    new_password: password.describe('8 to 256 characters'),
    keep_opened: z
      .boolean()
      .optional()
      .describe(
        'True: forwards, waiting jobs and campaigns that you opened go on. Otherwise they end, because somebody else may have used your session',
      ),
  })
  .meta({ id: 'PasswordChange', examples: [{ current_password: 'correct horse', new_password: 'battery staple' }] });

interface AccountDeps {
  identity: IdentityService;
  teams: TeamsService;
}

/** What callers may know and change about themselves. */
export function accountRoutes(app: App, { identity, teams }: AccountDeps): void {
  app.get(
    '/api/me',
    {
      schema: {
        tags: ['account'],
        operationId: 'whoAmI',
        summary: 'Who asks, in which team, with which role',
        response: { 200: envelope(meSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { id, kind, teamId, role } = principalOf(request);
      const { name } = await teams.findTeam(teamId);
      const email = kind === 'user' ? (await teams.getMember(teamId, id)).email : null;
      return success({ id, kind, email, role, team: { id: teamId, name } });
    },
  );
  app.post(
    '/api/me/password',
    {
      schema: {
        tags: ['account'],
        operationId: 'changeOwnPassword',
        summary: 'Change the own password; every session is over, this one too, and what was opened in them ends',
        body: passwordBody,
        response: { 204: z.null().describe('Changed; sign in again'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      if (principal.kind !== 'user') throw new AppError('forbidden', 'an API key has no password');
      if (principal.clientId !== undefined)
        throw new AppError('forbidden', 'a program that acts for somebody does not change their password');
      const { current_password: current, new_password: next, keep_opened: keepOpened = false } = request.body;
      await identity.changePassword(principal, request.ip, { current, next, keepOpened });
      return reply.code(204).send(null);
    },
  );
}
