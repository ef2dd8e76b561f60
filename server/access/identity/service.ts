import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuditService } from '../audit/service.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { secretMatches } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { ROLES } from '../../platform/core/principal.ts';
import type { Principal, Role } from '../../platform/core/principal.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';
import { asPasswordCaller, normalizeEmail } from '../teams/service.ts';
import type { InvitationsService, PasswordLinksService, TeamsService } from '../teams/service.ts';
import { INVITATION_PATH, linkTo, PASSWORD_PATH, SETUP_PATH } from '../teams/types.ts';
import { AccessTokenVerifier, looksLikeJwt } from './access-tokens.ts';
import type { AccessTokenClaims } from './access-tokens.ts';
import { ClientsService } from './clients/service.ts';
import { FirstAccount } from './links/first-account.ts';
import { InvitationVisits } from './links/invitation-visits.ts';
import { PasswordVisits } from './links/password-visits.ts';
import { SetupVisits } from './links/setup-visits.ts';
import { LinkVisits } from './links/visits.ts';
import { ProviderKeyring } from './keys/service.ts';
import type { ProviderKeys } from './keys/service.ts';
import { createProvider } from './provider/create.ts';
import { deleteExpiredRecords } from './provider/store.ts';
import { AttemptsInMemory } from './sign-in/attempt-counters.ts';
import { passwordCallerOf, SignInAttempts } from './sign-in/attempts.ts';
import { DeviceCookies } from './sign-in/device-cookies.ts';
import { Interactions } from './sign-in/interactions.ts';
import { isStillValid } from './sign-in/login-time.ts';
import { SharedAttempts } from './sign-in/shared-attempts.ts';
import { selectHolder } from './store.ts';
import { API_SCOPE, CONSOLE_CLIENT_ID, OIDC_PATH } from './types.ts';
import type { SessionHolder, UpstreamSettings } from './types.ts';
import { UpstreamProvider } from './upstream/provider.ts';

/** How often a running server checks for keys that a command has changed or that become active. */
const KEYS_EVERY_MS = 30_000;
/** A connection outlives its token by at most a working day. */
const LONGEST_CONNECTION_MS = 12 * 3600_000;
/** Rows per statement. */
const CHUNK = 500;

export interface IdentityDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  secrets: Secrets;
  /** This control plane among several, which count attempts to sign in together; null for one that serves alone. */
  cluster: object | null;
  teams: TeamsService;
  invitations: InvitationsService;
  passwordLinks: PasswordLinksService;
  audit: AuditService;
  /** Of notifications. */
  topics: { createFirst: (teamId: string) => Promise<void> };
  /** The upstream identity provider, if one is configured. */
  upstream: UpstreamSettings | null;
  counters?: Counters | undefined;
}

/** The OpenID provider and what depends on its keys; replaced as a whole when the keys change. */
interface ProviderInstance {
  version: string;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  verifier: AccessTokenVerifier;
  devices: DeviceCookies;
  interactions: Interactions;
  links: Links;
}

/** The pages behind links sent to people. */
interface Links {
  invitations: InvitationVisits;
  passwords: PasswordVisits;
  setup: SetupVisits;
}

/**
 * Sessions of people (docs/sign-in.md): the built-in OpenID provider, the clients that may act for members, and the check of
 * their access tokens. A token names a person and a team; every request checks that the membership still holds.
 */
export class IdentityService {
  readonly clients: ClientsService;
  readonly #deps: IdentityDeps;
  readonly #firstAccount: FirstAccount;
  readonly #keyring: ProviderKeyring;
  readonly #attempts: SignInAttempts;
  readonly #sharedAttempts: SharedAttempts | undefined;
  readonly #upstream: UpstreamProvider | undefined;
  #baseUrl = '';
  #instance: ProviderInstance | undefined;
  readonly #refreshes: Periodic;

  constructor(deps: IdentityDeps) {
    this.#deps = deps;
    this.#refreshes = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: KEYS_EVERY_MS,
      failure: 'the signing keys could not be read; the current ones stay in use',
      run: () => this.#refresh(),
    });
    this.clients = new ClientsService(deps);
    this.#firstAccount = new FirstAccount(deps.teams, (teamId) => deps.topics.createFirst(teamId));
    this.#keyring = new ProviderKeyring(deps);
    this.#sharedAttempts = deps.cluster ? new SharedAttempts(deps) : undefined;
    this.#attempts = new SignInAttempts(this.#sharedAttempts ?? new AttemptsInMemory(() => deps.clock.monotonic()));
    this.#upstream = deps.upstream ? new UpstreamProvider(deps.upstream, () => deps.clock.now()) : undefined;
  }

  /** @param baseUrl the public URL, without a slash at the end. @throws AppError `internal` when the keys cannot be read */
  async start(baseUrl: string): Promise<void> {
    this.#baseUrl = baseUrl;
    this.#instance = this.#createInstance(await this.#keyring.load());
    this.#refreshes.start();
  }

  async stop(): Promise<void> {
    await this.#refreshes.stop();
  }

  /** Prefix of the provider's paths, as browsers see it. */
  get mountPath(): string {
    return `${new URL(this.#baseUrl).pathname.replace(/\/$/, '')}${OIDC_PATH}`;
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** @throws AppError `unavailable` during start-up */
  get interactions(): Interactions {
    return this.#started().interactions;
  }

  /** A link to the page that makes the first account, for whoever sees the terminal of this process; undefined once there is one. */
  async setupLink(): Promise<string | undefined> {
    const code = await this.#firstAccount.code();
    return code === undefined ? undefined : linkTo(SETUP_PATH, this.#baseUrl, code);
  }

  /** A name for the browser with this `Cookie` header, if somebody has signed in there before. */
  knownBrowser(cookieHeader: string | undefined): string | undefined {
    const browser = this.#started().devices.read(cookieHeader);
    return browser && `browser:${browser.id}`;
  }

  /** @throws AppError `unavailable` during start-up */
  get links(): Links {
    return this.#started().links;
  }

  /** Handles the requests of the protocol itself. @throws AppError `unavailable` during start-up */
  get handler(): ProviderInstance['handle'] {
    return this.#started().handle;
  }

  /** True for a bearer that {@link authenticate} must check. */
  recognises(bearer: string): boolean {
    return looksLikeJwt(bearer);
  }

  /** The person of an access token, with their current role. Undefined for an invalid token. */
  async authenticate(bearer: string): Promise<Principal | undefined> {
    return this.#principalOf(await this.#started().verifier.verify(bearer, this.#deps.clock.now()));
  }

  /** The same for an open connection: its token may have expired since, but the person must still have a role. */
  async authenticateConnection(bearer: string): Promise<Principal | undefined> {
    const begun = issuedAtOf(bearer);
    const now = this.#deps.clock.now();
    if (begun === undefined || begun + LONGEST_CONNECTION_MS < now) return undefined;
    return this.#principalOf(await this.#started().verifier.verify(bearer, begun));
  }

  /**
   * Changes the caller's own password and ends all their sessions.
   * @param passwords with `keepOpened`, the caller's forwards, jobs and campaigns continue
   * @throws AppError `invalid` for a wrong or unfit password, `rate_limited` after too many wrong ones
   */
  async changePassword(
    principal: Principal,
    source: string,
    passwords: { current: string; next: string; keepOpened?: boolean },
  ): Promise<void> {
    const { teams } = this.#deps;
    const { email } = await teams.getMember(principal.teamId, principal.id);
    // A signed-in person has a counter of their own: strangers who guess at the sign-in page do not lock them out.
    const knownBrowser = `session of ${principal.id}`;
    const attempt = { account: normalizeEmail(email), passwordSince: await teams.passwordSince(email), source, knownBrowser };
    const retryAfter = await this.#attempts.begin(attempt);
    if (retryAfter !== undefined) throw new AppError('rate_limited', `too many wrong passwords; try again in ${retryAfter} seconds`);
    const change = (): Promise<boolean> => teams.changePassword(email, passwords.current, passwords.next, passwords);
    const isChanged = await asPasswordCaller(passwordCallerOf(attempt), change).catch(async (error: unknown) => {
      await this.#attempts.succeed(attempt);
      throw error;
    });
    if (!isChanged) throw new AppError('invalid', 'the current password is wrong', { errors: { current_password: ['is wrong'] } });
    await this.#attempts.succeed(attempt);
  }

  /** Deletes expired records. */
  async sweep(): Promise<void> {
    await this.#sharedAttempts?.sweep();
    await this.#keyring.sweep();
    while ((await deleteExpiredRecords(this.#deps.storage, this.#deps.clock.now(), CHUNK)) === CHUNK);
  }

  async #principalOf(claims: AccessTokenClaims | undefined): Promise<Principal | undefined> {
    if (!claims) return undefined;
    const { teamId, userId, clientId, scopes } = claims;
    if (clientId !== CONSOLE_CLIENT_ID && !scopes.has(API_SCOPE)) return undefined;
    const holder = await this.#holder(teamId, userId, clientId);
    if (!holder || !isValidSince(claims, holder.sessionsSince)) return undefined;
    const firstParty = clientId === CONSOLE_CLIENT_ID;
    return {
      kind: 'user',
      id: userId,
      teamId,
      role: holder.role,
      // A client belongs to a team, whose administrators could act through it.
      ...(firstParty ? {} : { clientId }),
      ...(firstParty && holder.isInstallationAdmin ? { isInstallationAdmin: true } : {}),
      ...(claims.loginTs === undefined ? {} : { signedInAt: claims.loginTs * 1000 }),
    };
  }

  /** The person in the team, with their role through the client: the lower of the two roles. */
  async #holder(teamId: string, userId: string, clientId: string): Promise<SessionHolder | undefined> {
    const holder = await selectHolder(this.#deps.storage.db, teamId, userId);
    if (!holder || clientId === CONSOLE_CLIENT_ID) return holder;
    const found = await this.clients.find(clientId);
    return found?.client.teamId === teamId ? { ...holder, role: lesser(holder.role, found.client.role) } : undefined;
  }

  #started(): ProviderInstance {
    if (!this.#instance) throw new AppError('unavailable', 'the server is starting; try again in a moment');
    return this.#instance;
  }

  #createInstance(keys: ProviderKeys): ProviderInstance {
    const { storage, secrets, clock, log, teams, audit } = this.#deps;
    const provider = createProvider({
      baseUrl: this.#baseUrl,
      mountPath: this.mountPath,
      keys,
      records: { storage, secrets, now: () => clock.now() },
      clients: this.clients,
      teams,
      roleIn: async (loginTs, ...whose) => {
        const holder = await this.#holder(...whose);
        return holder && isStillValid(loginTs, holder.sessionsSince) ? holder.role : undefined;
      },
      matchesSecret: secretMatches,
      audit,
      log,
    });
    const [cookieKey] = keys.cookie;
    if (cookieKey === undefined) throw new AppError('internal', 'there is no cookie key');
    const devices = new DeviceCookies({ keys: keys.cookie, baseUrl: this.#baseUrl, mountPath: this.mountPath });
    const formKey = createHmac('sha256', cookieKey).update('forms').digest('hex');
    return {
      version: keys.version,
      handle: provider.callback(),
      verifier: new AccessTokenVerifier({ keys: keys.signing.map(publicPart) }, { issuer: provider.issuer, audience: this.#baseUrl }),
      devices,
      links: this.#linksWith(formKey),
      interactions: new Interactions({
        provider,
        baseUrl: this.#baseUrl,
        mountPath: this.mountPath,
        formKey,
        teams,
        clients: this.clients,
        attempts: this.#attempts,
        devices,
        audit,
        upstream: this.#upstream,
        log,
        now: () => clock.now(),
      }),
    };
  }

  #linksWith(formKey: string): Links {
    const { teams, invitations, passwordLinks, audit, log } = this.#deps;
    const baseUrl = this.#baseUrl;
    const visitsOf = (path: string): LinkVisits => new LinkVisits({ baseUrl, path, formKey });
    const shared = { baseUrl, teams, invitations, attempts: this.#attempts, audit, upstream: this.#upstream, log };
    return {
      invitations: new InvitationVisits({ ...shared, visits: visitsOf(INVITATION_PATH) }),
      passwords: new PasswordVisits({ baseUrl, visits: visitsOf(PASSWORD_PATH), passwordLinks, audit }),
      setup: new SetupVisits({ baseUrl, visits: visitsOf(SETUP_PATH), firstAccount: this.#firstAccount, audit }),
    };
  }

  /** A provider cannot change its keys: a new one replaces it on the same records. */
  async #refresh(): Promise<void> {
    if ((await this.#keyring.version()) === this.#instance?.version) return;
    this.#instance = this.#createInstance(await this.#keyring.load());
    this.#deps.log.info({}, 'signing keys have changed');
  }
}

/** Tokens of an earlier version lack the sign-in time; they expire within five minutes. */
function isValidSince({ loginTs, issuedAt }: AccessTokenClaims, sessionsSince: number): boolean {
  return loginTs === undefined ? issuedAt >= sessionsSince : isStillValid(loginTs, sessionsSince);
}

function lesser(one: Role, other: Role): Role {
  return ROLES.indexOf(one) < ROLES.indexOf(other) ? one : other;
}

function publicPart({ kty, n, e, kid, alg, use }: ProviderKeys['signing'][number]): Record<string, unknown> & { kty: string } {
  return { kty: kty ?? '', n, e, kid, alg, use };
}

/** Read before the signature is checked, only to know the time for which to check it. */
function issuedAtOf(token: string): number | undefined {
  try {
    const { iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { iat?: unknown };
    return typeof iat === 'number' ? iat * 1000 : undefined;
  } catch {
    return undefined;
  }
}
