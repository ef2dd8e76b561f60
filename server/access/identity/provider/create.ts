import type { EventEmitter } from 'node:events';
import { Provider } from 'oidc-provider';
import type { Account } from 'oidc-provider';
import type { AuditService } from '../../audit/service.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { ClientsService } from '../clients/service.ts';
import { isStillValid } from '../sign-in/login-time.ts';
import type { ProviderKeys } from '../keys/service.ts';
import { API_SCOPE, OIDC_PATH } from '../types.ts';
import { RecordAdapter } from './adapter.ts';
import type { RecordAdapterDeps } from './adapter.ts';
import { ClientAdapter } from './client-adapter.ts';
import { compareHashedSecrets, providerConfiguration } from './configuration.ts';
import type { SecretCheck } from './configuration.ts';
import { validMemberships, Grants, teamOf } from './grants.ts';

export interface ProviderDeps {
  baseUrl: string;
  mountPath: string;
  keys: ProviderKeys;
  records: RecordAdapterDeps;
  clients: ClientsService;
  teams: TeamsService;
  /** Also undefined for a sign-in that is no longer valid in this team. @param loginTs sign-in time, seconds */
  roleIn: (loginTs: number | undefined, teamId: string, userId: string, clientId: string) => Promise<Role | undefined>;
  matchesSecret: SecretCheck;
  audit: AuditService;
  log: Log;
}

/** The OpenID provider on top of the server's tables. Its keys are fixed: new keys need a new provider. */
export function createProvider(deps: ProviderDeps): Provider {
  const { baseUrl, mountPath, keys, records, clients, teams, log } = deps;
  const grants = new Grants(baseUrl, teams, deps.roleIn);
  const provider = new Provider(
    `${baseUrl}${OIDC_PATH}`,
    providerConfiguration({
      baseUrl,
      mountPath,
      keys,
      adapter: (model) => (model === 'Client' ? new ClientAdapter(clients) : new RecordAdapter(model, records)),
      findAccount: (userId, loginTs) => findAccount(teams, userId, loginTs),
      loadGrant: (ctx) => grants.load(ctx),
      tokenClaims: (ctx, token) => grants.tokenClaims(ctx, token),
    }),
  );
  // The routes in front set the forwarded headers, so that addresses are always the public ones.
  provider.proxy = true;
  provider.silent = true;
  compareHashedSecrets(provider.Client, deps.matchesSecret);
  provider.use(announceApiScope);
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'the identity provider failed'));
  // Koa's own event, which the provider's types leave out; without a listener Koa prints to the console.
  (provider as EventEmitter).on('error', (error: unknown) => log.error({ err: error }, 'the identity provider failed'));
  return reportSignOuts(provider, deps);
}

/** The scope belongs to the API resource, which the provider leaves out of the discovery document. */
async function announceApiScope(ctx: { path: string; body: unknown }, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path !== '/.well-known/openid-configuration' || typeof ctx.body !== 'object' || ctx.body === null) return;
  const document = ctx.body as { scopes_supported?: string[] };
  document.scopes_supported = [...(document.scopes_supported ?? []), API_SCOPE];
}

/** Undefined for a person without any role, and for a sign-in from before the current password. */
async function findAccount(teams: TeamsService, userId: string, loginTs: number | undefined): Promise<Account | undefined> {
  const [first] = await validMemberships(teams, userId, loginTs);
  if (!first || !isStillValid(loginTs, await teams.passwordSince(first.email))) return undefined;
  return { accountId: userId, claims: async () => ({ sub: userId, email: first.email }) };
}

/** Recorded only in the audit logs of the session's teams. */
function reportSignOuts(provider: Provider, { audit, log }: ProviderDeps): Provider {
  const teamsOf = new WeakMap<object, string[]>();
  // Read before the provider ends the session and with it the grants that name its teams.
  provider.use(async (ctx, next) => {
    if (ctx.method === 'POST' && ctx.path === '/session/end/confirm') teamsOf.set(ctx.req, await teamsOfSession(provider, ctx));
    await next();
  });
  provider.on('end_session.success', (ctx) => {
    const userId = ctx.oidc.session?.accountId;
    // The event also fires when the person chose to stay signed in.
    if (userId === undefined || ctx.oidc.params?.['logout'] === undefined) return;
    const target = ctx.oidc.client?.clientId ?? null;
    const teams = teamsOf.get(ctx.req);
    if (!teams) log.warn({}, 'a sign-out is missing from the audit log');
    for (const teamId of teams ?? []) {
      audit.record({ team_id: teamId, actor_kind: 'user', actor_id: userId, source: ctx.ip, action: 'logout', target, result: 200 });
    }
  });
  return provider;
}

async function teamsOfSession(provider: Provider, ctx: Parameters<Provider['Session']['get']>[0]): Promise<string[]> {
  const { authorizations = {} } = await provider.Session.get(ctx);
  const ids = Object.values(authorizations).flatMap(({ grantId }) => (grantId === undefined ? [] : [grantId]));
  const grants = await Promise.all(ids.map((id) => provider.Grant.find(id)));
  return [...new Set(grants.flatMap((grant) => (grant ? [teamOf(grant)] : [])))];
}
