import { errors } from 'oidc-provider';
import type { AccessToken, Grant, KoaContextWithOIDC } from 'oidc-provider';
import type { Provider } from 'oidc-provider';
import type { Role } from '../../../platform/core/principal.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { Member } from '../../teams/types.ts';
import { isStillValid } from '../sign-in/login-time.ts';
import { API_SCOPE, CONSOLE_CLIENT_ID } from '../types.ts';

/** A grant stores its team as a resource: the only provider field that keeps our value. */
const TEAM = 'urn:signalbox:team';
const CONSOLE_SCOPES = 'openid email';

export interface GrantRequest {
  accountId: string;
  clientId: string;
  teamId: string;
  /** Scopes of OpenID Connect, separated by spaces. */
  oidcScope: string;
  /** True when it may use the API. */
  api: boolean;
}

/** @returns the id of the grant, which is stored */
export async function saveGrant(provider: Provider, baseUrl: string, request: GrantRequest): Promise<Grant> {
  const grant = new provider.Grant({ accountId: request.accountId, clientId: request.clientId });
  if (request.oidcScope !== '') grant.addOIDCScope(request.oidcScope);
  grant.addResourceScope(TEAM, request.teamId);
  if (request.api) grant.addResourceScope(baseUrl, API_SCOPE);
  await grant.save();
  return grant;
}

/** For the first-party application, which has all rights of its user. */
export async function saveConsoleGrant(provider: Provider, baseUrl: string, accountId: string, teamId: string): Promise<Grant> {
  return saveGrant(provider, baseUrl, { accountId, clientId: CONSOLE_CLIENT_ID, teamId, oidcScope: CONSOLE_SCOPES, api: true });
}

export function teamOf(grant: Grant): string {
  return grant.getResourceScope(TEAM);
}

/** Sign-in time of the person, seconds, taken from the source of the token. */
function loginTsOf({ oidc: { entities, session } }: KoaContextWithOIDC): number | undefined {
  return entities.AuthorizationCode?.authTime ?? entities.RefreshToken?.authTime ?? session?.loginTs;
}

type SessionTeams = Pick<TeamsService, 'activeMemberships' | 'sessionsSince'>;

/** The teams in which the person is active and the sign-in is valid. Switching a member off invalidates earlier sign-ins in that team. */
export async function validMemberships(teams: SessionTeams, userId: string, loginTs: number | undefined): Promise<Member[]> {
  const since = await teams.sessionsSince(userId);
  return (await teams.activeMemberships(userId)).filter(({ teamId }) => isStillValid(loginTs, since.get(teamId) ?? 0));
}

/** Answers the provider's questions about grants: valid grants, grants without consent, and token claims. */
export class Grants {
  readonly #baseUrl: string;
  readonly #teams: SessionTeams;
  readonly #roleIn: (loginTs: number | undefined, teamId: string, userId: string, clientId: string) => Promise<Role | undefined>;

  /** @param roleIn role of the person through the client; undefined for none */
  constructor(
    baseUrl: string,
    teams: SessionTeams,
    roleIn: (loginTs: number | undefined, teamId: string, userId: string, clientId: string) => Promise<Role | undefined>,
  ) {
    this.#baseUrl = baseUrl;
    this.#teams = teams;
    this.#roleIn = roleIn;
  }

  /** The grant of this request. Undefined when the person must choose a team or give consent. */
  async load(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, session, result, provider } = ctx.oidc;
    const accountId = session?.accountId;
    if (!client || !session || accountId === undefined) return undefined;
    const isConsole = client.clientId === CONSOLE_CLIENT_ID;
    // A new sign-in chooses the team again.
    const isNewSignIn = isConsole && result?.login !== undefined && result.consent === undefined;
    const grantId = result?.consent?.grantId ?? (isNewSignIn ? undefined : session.grantIdFor(client.clientId));
    const grant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (grant?.accountId === accountId && (await this.#roleIn(session.loginTs, teamOf(grant), accountId, client.clientId)) !== undefined)
      return grant;
    const [only, ...others] = isConsole ? await validMemberships(this.#teams, accountId, session.loginTs) : [];
    if (!only || others.length > 0) return undefined;
    return saveConsoleGrant(provider, this.#baseUrl, accountId, only.teamId);
  }

  async tokenClaims(ctx: KoaContextWithOIDC, token: AccessToken): Promise<Record<string, unknown>> {
    const grant = ctx.oidc.entities.Grant ?? (await ctx.oidc.provider.Grant.find(token.grantId ?? ''));
    const team = grant && teamOf(grant);
    const role = team === undefined ? undefined : await this.#roleIn(loginTsOf(ctx), team, token.accountId, token.clientId ?? '');
    if (role === undefined) throw new errors.InvalidGrant('this person no longer has a role here');
    return { team, role, auth_time: loginTsOf(ctx) };
  }
}
