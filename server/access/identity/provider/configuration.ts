import { errors, interactionPolicy } from 'oidc-provider';
import type {
  AccessToken,
  Account,
  Adapter,
  Client as ProviderClient,
  ClientMetadata,
  Configuration,
  Grant,
  KoaContextWithOIDC,
} from 'oidc-provider';
import { SIGNING_ALGORITHM } from '../keys/service.ts';
import type { ProviderKeys } from '../keys/service.ts';
import { API_SCOPE, CONSOLE_CLIENT_ID } from '../types.ts';
import { PAGE_POLICY } from '../../../platform/core/html-page.ts';
import { errorPage, signedOutPage, signOutPage, stayedPage } from './sign-in-pages.ts';

/** A token may outlive a sign-out by five to ten minutes at most. */
const ACCESS_TOKEN_S = 300;
const CODE_S = 60;
const HOUR_S = 3600;
/** A working day; then the person signs in again. */
const SESSION_S = 12 * HOUR_S;
/** Lifetime of an unused refresh token. Every use issues a new one. */
const REFRESH_TOKEN_S = 14 * 24 * HOUR_S;
/** A person signs in again after this time, however often the token is refreshed. */
const GRANT_S = 90 * 24 * HOUR_S;

export interface ConfigurationDeps {
  /** The public URL, without a slash at the end: the audience of every access token. */
  baseUrl: string;
  /** Path of the provider, as browsers see it. */
  mountPath: string;
  keys: ProviderKeys;
  adapter: (model: string) => Adapter;
  /** @param loginTs sign-in time of the person, seconds */
  findAccount: (userId: string, loginTs: number | undefined) => Promise<Account | undefined>;
  /** The valid grant, or one that needs no consent. */
  loadGrant: (ctx: KoaContextWithOIDC) => Promise<Grant | undefined>;
  /** Claims of an access token in addition to the standard ones. @throws InvalidGrant when its holder has left the team */
  tokenClaims: (ctx: KoaContextWithOIDC, token: AccessToken) => Promise<Record<string, unknown>>;
}

/** Every feature that is not needed is off, to reduce the attack surface. */
export function providerConfiguration(deps: ConfigurationDeps): Configuration {
  const { baseUrl, mountPath, keys } = deps;
  return {
    adapter: deps.adapter,
    clients: [consoleClient(baseUrl)],
    jwks: { keys: keys.signing },
    cookies: cookieSettings(mountPath, keys.cookie),
    findAccount: async (ctx, id, token) => deps.findAccount(id, loginTsOf(ctx, token)),
    loadExistingGrant: deps.loadGrant,
    extraTokenClaims: async (ctx, token) => deps.tokenClaims(ctx, token as AccessToken),
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    scopes: ['openid', 'offline_access'],
    responseTypes: ['code', 'id_token token', 'id_token'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    pkce: { required: () => true },
    rotateRefreshToken: () => true,
    issueRefreshToken: async (_ctx, client, source) => client.grantTypeAllowed('refresh_token') && source.scopes.has('offline_access'),
    // An address with a private-use scheme has the origin `null`, like every sandboxed page.
    clientBasedCORS: (_ctx, origin, client) =>
      origin !== 'null' && client.redirectUris?.some((uri) => URL.parse(uri)?.origin === origin) === true,
    interactions: { url: (_ctx, interaction) => `${mountPath}/interaction/${interaction.uid}`, policy: promptPolicy() },
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: CODE_S,
      Grant: GRANT_S,
      IdToken: HOUR_S,
      Interaction: HOUR_S,
      RefreshToken: REFRESH_TOKEN_S,
      Session: SESSION_S,
    },
    features: features(deps),
    renderError: async (ctx, out) => {
      setPage(ctx, errorPage(out.error, out.error_description));
    },
  };
}

/** In addition to the provider's own login checks: a session that is no longer valid. */
function promptPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const isWorthless = (ctx: KoaContextWithOIDC): boolean => ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined;
  policy.get('login')!.checks.add(new interactionPolicy.Check('no_account', 'the session is over', 'login_required', isWorthless));
  return policy;
}

/** Sign-in time of the person, seconds, from the presented code, refresh token or session. */
function loginTsOf(ctx: KoaContextWithOIDC, token: object | undefined): number | undefined {
  if (token === undefined) return ctx.oidc.session?.loginTs;
  return 'authTime' in token && typeof token.authTime === 'number' ? token.authTime : undefined;
}

function features({ baseUrl }: ConfigurationDeps): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    // Access tokens are for the API; /api/me returns their identity.
    userinfo: { enabled: false },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => baseUrl,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (resource !== baseUrl) throw new errors.InvalidTarget();
        return {
          scope: API_SCOPE,
          audience: baseUrl,
          accessTokenTTL: ACCESS_TOKEN_S,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: SIGNING_ALGORITHM } },
        };
      },
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: async (ctx, form) => {
        setPage(ctx, signOutPage(form));
      },
      postLogoutSuccessSource: async (ctx) => {
        setPage(ctx, ctx.oidc.client ? stayedPage() : signedOutPage());
      },
    },
  };
}

/** Limited to the provider's path, so that no other page of the server gets them. */
function cookieSettings(mountPath: string, keys: string[]): NonNullable<Configuration['cookies']> {
  return {
    keys,
    names: { session: 'signalbox_session', interaction: 'signalbox_interaction', resume: 'signalbox_resume' },
    long: { httpOnly: true, sameSite: 'lax', signed: true, path: mountPath },
    short: { httpOnly: true, sameSite: 'lax', signed: true },
  };
}

/**
 * It has no refresh tokens: who takes over its page would get days of access with one, and two tabs that use one at once would end each
 * other's sign-in. It renews its access token by the provider's cookie, which no script can read.
 */
function consoleClient(baseUrl: string): ClientMetadata {
  return {
    client_id: CONSOLE_CLIENT_ID,
    client_name: 'Signalbox',
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
    grant_types: ['authorization_code'],
    redirect_uris: [`${baseUrl}/`, `${baseUrl}/callback`, `${baseUrl}/silent-callback`],
    post_logout_redirect_uris: [`${baseUrl}/`, `${baseUrl}/signed-out`],
  };
}

function setPage(ctx: KoaContextWithOIDC, html: string): void {
  ctx.set('content-security-policy', PAGE_POLICY);
  ctx.type = 'html';
  ctx.body = html;
}

/** The provider's own check needs the plain secret; only its hash is stored. */
export type SecretCheck = (presented: string, storedHash: string) => boolean;

export function compareHashedSecrets(clientClass: { prototype: ProviderClient }, matches: SecretCheck): void {
  Object.defineProperty(clientClass.prototype, 'compareClientSecret', {
    value(this: ProviderClient, presented: string) {
      return matches(presented, this.clientSecret ?? '');
    },
  });
}
