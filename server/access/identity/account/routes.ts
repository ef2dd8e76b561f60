import { z } from 'zod';
import { AppError } from '../../../platform/core/errors.ts';
import { isPublicAddress } from '../../../platform/core/public-address.ts';
import { ROLES } from '../../../platform/core/principal.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { IdentityService } from '../service.ts';

/** teams/passwords.ts has the real limits; this one only keeps the body small. */
const LONGEST_PASSWORD = 256;

const example = {
  id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  kind: 'user' as const,
  email: 'ada@example.org',
  role: 'operator' as const,
  team: { id: '01a1fb8f-0000-7b54-8c11-d4f2a6c8e0b2', name: 'Depot' },
  installation_admin: false,
};
const meSchema = z
  .object({
    id: z.string().describe('Id of the user or API key, as in `actor_id` of the audit log'),
    kind: z.enum(['user', 'api_key']),
    email: z.string().nullable().describe('Null for an API key'),
    role: z.enum(ROLES).describe('Current role of this credential'),
    team: z.object({ id: z.string(), name: z.string() }),
    installation_admin: z
      .boolean()
      .describe('Whether the caller sees and drains the control planes. Given on the server only; false for API keys and clients'),
  })
  .meta({ id: 'Me', examples: [example] });

const addressExample = { address: '203.0.113.7', is_public: true, can_be_source: true };
const addressSchema = z
  .object({
    address: z.string().describe('From which this request came'),
    is_public: z
      .boolean()
      .describe(
        'Whether it belongs to the public internet. Only such an address can be `allow_from` of a forward, unless the server is set otherwise',
      ),
    can_be_source: z.boolean().describe('Whether this server takes it as `allow_from` of a forward'),
  })
  .meta({ id: 'CallersAddress', examples: [addressExample] });

const password = z.string().max(LONGEST_PASSWORD);
const passwordBody = z
  .object({
    current_password: password,
    new_password: password.describe('8 to 256 characters; none that somebody would guess (docs/accounts.md)'),
    keep_opened: z
      .boolean()
      .optional()
      .describe(
        'True: your forwards, queued jobs and campaigns continue. Otherwise they end, because somebody else may have used your session',
      ),
  })
  .meta({ id: 'PasswordChange', examples: [{ current_password: 'correct horse', new_password: 'battery staple' }] });

interface AccountDeps {
  identity: IdentityService;
  teams: TeamsService;
  /** Whether `allow_from` of a forward may be an address that is not public. */
  allowPrivateSources: boolean;
}

/** Requests of callers about themselves. */
export function accountRoutes(app: App, { identity, teams, allowPrivateSources }: AccountDeps): void {
  app.get(
    '/api/me',
    {
      schema: {
        tags: ['account'],
        operationId: 'whoAmI',
        summary: 'Read the identity, team and role of the caller',
        response: { 200: envelope(meSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { id, kind, teamId, role, isInstallationAdmin = false } = principalOf(request);
      const { name } = await teams.findTeam(teamId);
      const email = kind === 'user' ? (await teams.getMember(teamId, id)).email : null;
      return success({ id, kind, email, role, team: { id: teamId, name }, installation_admin: isInstallationAdmin });
    },
  );
  app.get(
    '/api/me/address',
    {
      schema: {
        tags: ['account'],
        operationId: 'whereAmI',
        summary: 'Show the address of the caller as the server sees it, for `allow_from` of a forward',
        response: { 200: envelope(addressSchema), ...commonErrors },
      },
    },
    async ({ ip }) => {
      // A socket of both families writes IPv4 addresses as IPv6.
      const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
      const isPublic = isPublicAddress(address);
      return success({ address, is_public: isPublic, can_be_source: isPublic || allowPrivateSources });
    },
  );
  app.post(
    '/api/me/password',
    {
      schema: {
        tags: ['account'],
        operationId: 'changeOwnPassword',
        summary: 'Change your password; this ends all your sessions, including this one, and what you opened in them',
        body: passwordBody,
        response: { 204: z.null().describe('Changed; sign in again'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      if (principal.kind !== 'user') throw new AppError('forbidden', 'an API key has no password');
      if (principal.clientId !== undefined) throw new AppError('forbidden', 'a client that acts for a user cannot change their password');
      const { current_password: current, new_password: next, keep_opened: keepOpened = false } = request.body;
      await identity.changePassword(principal, request.ip, { current, next, keepOpened });
      return reply.code(204).send(null);
    },
  );
}
