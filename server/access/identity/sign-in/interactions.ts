import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'oidc-provider';
import type { Provider } from 'oidc-provider';
import type { AuditService } from '../../audit/service.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { asPasswordCaller, normalizeEmail } from '../../teams/service.ts';
import type { TeamsService } from '../../teams/service.ts';
import type { Member, PasswordCheck } from '../../teams/types.ts';
import type { ClientsService } from '../clients/service.ts';
import { validMemberships, saveConsoleGrant, saveGrant } from '../provider/grants.ts';
import { consentPage, errorPage, noAccountPage, OWN_NAME, signInPage, teamChoicePage } from '../provider/sign-in-pages.ts';
import type { SignInView } from '../provider/sign-in-pages.ts';
import { API_SCOPE, CONSOLE_CLIENT_ID, UPSTREAM_CALLBACK_PATH } from '../types.ts';
import type { Client } from '../types.ts';
import type { UpstreamProof, UpstreamProvider } from '../upstream/provider.ts';
import { passwordCallerOf } from './attempts.ts';
import type { Attempt, SignInAttempts } from './attempts.ts';
import type { DeviceCookies } from './device-cookies.ts';
import { loginTime } from './login-time.ts';
import { tryAgainIn } from './wait-words.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** One browser request, passed to the provider, which reads and sets cookies itself. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Address of the client. */
  source: string;
  /** Form fields, empty for a GET. */
  form: Readonly<Record<string, string | undefined>>;
}

/** The answer to the browser: a page or a redirect. */
export type Outcome = { status: number; html: string; retryAfter?: number } | { location: string };

export interface InteractionsDeps {
  provider: Provider;
  baseUrl: string;
  mountPath: string;
  /** Proves that a form came from one of our pages. */
  formKey: string;
  teams: TeamsService;
  clients: ClientsService;
  attempts: SignInAttempts;
  /** Remembers from which browsers people have signed in. */
  devices: DeviceCookies;
  audit: AuditService;
  /** Alternative sign-in provider, if one is configured. */
  upstream: UpstreamProvider | undefined;
  log: Log;
  /** Milliseconds. */
  now: () => number;
}

const WRONG_CREDENTIALS = 'The email address or the password is wrong.';
const TOO_MANY_ATTEMPTS = 'There were too many attempts.';
const BUSY = 'Too many people are signing in. Try again in a few seconds.';
const BUSY_S = 3;
/** Cookie of a browser that was told that there is no account, and how long it lasts, seconds. */
const SEEN_NO_ACCOUNT = 'signalbox-no-account=1';
const SEEN_S = 3600;
/** Characters. */
const LONGEST_EMAIL = 254;

/** The provider's questions to people, asked on our pages: sign in, choose a team, consent to a client. */
export class Interactions {
  readonly #deps: InteractionsDeps;

  constructor(deps: InteractionsDeps) {
    this.#deps = deps;
  }

  /** The current page of the sign-in. */
  async show(exchange: Exchange): Promise<Outcome> {
    return this.#within(exchange, false, async (interaction) => {
      if (interaction.prompt.name === 'login') {
        if (!(await this.#deps.teams.hasAnyAccount())) return this.#noAccountPage(exchange);
        return this.#signInPage(interaction, 200, { email: hintOf(interaction) });
      }
      return this.#nextPage(interaction);
    });
  }

  /** A browser that has seen the page before is told that nothing has changed: it would look as if its link did nothing. */
  #noAccountPage({ request, response }: Exchange): Outcome {
    const { baseUrl, mountPath } = this.#deps;
    const isSeen = (request.headers.cookie ?? '').split(/; */).includes(SEEN_NO_ACCOUNT);
    response.appendHeader('set-cookie', `${SEEN_NO_ACCOUNT}; Path=${mountPath}; HttpOnly; SameSite=Lax; Max-Age=${SEEN_S}`);
    return { status: 200, html: noAccountPage(`${baseUrl}/`, isSeen) };
  }

  /** Undefined when too many passwords wait: then this one was not checked, and does not count as a wrong one. */
  async #check(attempt: Attempt, email: string, password: string): Promise<PasswordCheck | undefined> {
    try {
      return await asPasswordCaller(passwordCallerOf(attempt), () => this.#deps.teams.checkPassword(email, password));
    } catch (error) {
      await this.#deps.attempts.withdraw(attempt);
      if (error instanceof AppError && error.code === 'unavailable') return undefined;
      throw error;
    }
  }

  async signIn(exchange: Exchange): Promise<Outcome> {
    return this.#within(exchange, true, async (interaction) => {
      const { email = '', password = '' } = exchange.form;
      const { attempts, devices, teams, now } = this.#deps;
      const begunAt = now();
      const person = { account: normalizeEmail(email), passwordSince: await teams.passwordSince(email) };
      const browser = devices.read(exchange.request.headers.cookie);
      const attempt = { ...person, source: exchange.source, knownBrowser: devices.proves(browser, person) };
      const retryAfter = await attempts.begin(attempt);
      if (retryAfter !== undefined) {
        const problem = `${TOO_MANY_ATTEMPTS} ${tryAgainIn(retryAfter)}`;
        return { ...(await this.#signInPage(interaction, 429, { email, problem })), retryAfter };
      }
      const checked = await this.#check(attempt, email, password);
      if (checked === undefined) return { ...(await this.#signInPage(interaction, 503, { email, problem: BUSY })), retryAfter: BUSY_S };
      const { matches, userId, memberships } = checked;
      const isSignedIn = matches && userId !== null && memberships.length > 0;
      await this.#report(exchange, interaction, memberships, isSignedIn ? 200 : 401);
      if (!isSignedIn) return this.#signInPage(interaction, 401, { email, problem: WRONG_CREDENTIALS });
      await attempts.succeed(attempt);
      devices.remember(exchange.response, browser, person);
      const ts = loginTime(begunAt, await this.#sessionsSince(userId, person.passwordSince));
      return this.#finish(exchange, { login: { accountId: userId, amr: ['pwd'], remember: false, ts } });
    });
  }

  /** Redirects to the upstream identity provider. */
  async redirectToUpstream(exchange: Exchange): Promise<Outcome> {
    return this.#within(exchange, true, async (interaction) => {
      const { upstream } = this.#deps;
      if (!upstream) throw new errors.InvalidRequest('no upstream identity provider is configured');
      return { location: await upstream.authorizationUrl(this.#proofOf(interaction)) };
    });
  }

  /** The callback from the upstream provider: the verified person signs in, if they have an account here. */
  async returnFromUpstream(
    exchange: Exchange,
    { code, state }: { code?: string | undefined; state?: string | undefined },
  ): Promise<Outcome> {
    return this.#within(exchange, false, async (interaction) => {
      const { upstream, teams } = this.#deps;
      const proof = this.#proofOf(interaction);
      if (!upstream || !isSame(state ?? '', proof.state)) throw new errors.InvalidRequest('this answer does not belong to this sign-in');
      if (code === undefined) return this.#signInPage(interaction, 401, { problem: `${upstream.name} did not sign you in.` });
      const email = await upstream.verifiedEmail(code, proof);
      const since = email === undefined ? 0 : await teams.passwordSince(email);
      const person = email === undefined ? undefined : await teams.findPerson(email);
      const memberships = person?.memberships ?? [];
      await this.#report(exchange, interaction, memberships, memberships.length > 0 ? 200 : 401);
      if (!person || memberships.length === 0) {
        return this.#signInPage(interaction, 401, { problem: `${upstream.name} has no verified address of yours that is known here.` });
      }
      await teams.confirmEmail(email!);
      await this.#rememberBrowser(exchange, email!);
      return this.#finish(exchange, {
        login: {
          accountId: person.userId,
          amr: ['fed'],
          remember: false,
          ts: loginTime(this.#deps.now(), await this.#sessionsSince(person.userId, since)),
        },
      });
    });
  }

  async #rememberBrowser({ request, response }: Exchange, email: string): Promise<void> {
    const { devices, teams } = this.#deps;
    const person = { account: normalizeEmail(email), passwordSince: await teams.passwordSince(email) };
    devices.remember(response, devices.read(request.headers.cookie), person);
  }

  /** The answer to the team choice or the consent. */
  async confirm(exchange: Exchange): Promise<Outcome> {
    return this.#within(exchange, true, async (interaction) => {
      const accountId = interaction.session?.accountId;
      if (interaction.prompt.name !== 'consent' || accountId === undefined) throw new errors.InvalidRequest('no question is open');
      const { provider, baseUrl, teams } = this.#deps;
      const client = await this.#clientOf(interaction);
      const wanted = client === undefined ? exchange.form['team'] : client.teamId;
      const member = (await validMemberships(teams, accountId, await this.#loginTsOf(interaction))).find(({ teamId }) => teamId === wanted);
      if (!member) return this.#finish(exchange, { error: 'access_denied', error_description: 'no active member of this team' });
      const wish = { accountId, clientId: clientIdOf(interaction), teamId: member.teamId, ...scopesOf(interaction) };
      // A client belongs to one team, so no choice is needed.
      if (!client) this.#record(exchange, interaction, member, 200);
      const grant = client ? await saveGrant(provider, baseUrl, wish) : await saveConsoleGrant(provider, baseUrl, accountId, member.teamId);
      return this.#finish(exchange, { consent: { grantId: grant.jti } }, true);
    });
  }

  async abort(exchange: Exchange): Promise<Outcome> {
    return this.#within(exchange, true, async () =>
      this.#finish(exchange, { error: 'access_denied', error_description: 'the sign-in was cancelled' }),
    );
  }

  /** Finds the pending sign-in of this browser. */
  async #within(exchange: Exchange, isForm: boolean, act: (interaction: Interaction) => Promise<Outcome>): Promise<Outcome> {
    try {
      const interaction = await this.#deps.provider.interactionDetails(exchange.request, exchange.response);
      if (isForm) this.#checkForm(exchange, interaction);
      return await act(interaction);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') {
        this.#deps.log.warn({ err: error.cause ?? error, reason: error.message }, 'the upstream identity provider failed');
        return { status: 502, html: errorPage('temporarily_unavailable', error.message) };
      }
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      const text =
        error instanceof errors.SessionNotFound ? 'This sign-in has ended, or was started in another browser.' : error.error_description;
      return { status: error.statusCode, html: errorPage(error.error, text) };
    }
  }

  /** `SameSite` cookies stop other sites. This check also covers old browsers and sites on sibling domains. */
  #checkForm({ request, form }: Exchange, interaction: Interaction): void {
    const site = request.headers['sec-fetch-site'];
    const isOurs = isSame(form['csrf'] ?? '', this.#derived('form', interaction));
    if (!isOurs || (site !== undefined && site !== 'same-origin')) throw new errors.InvalidRequest('this form did not come from our page');
  }

  /** A derived secret of this sign-in for one purpose. It is not stored. */
  #derived(purpose: string, { uid }: Interaction): string {
    return createHmac('sha256', this.#deps.formKey).update(`${purpose} ${uid}`).digest('base64url');
  }

  /** The state routes the answer back to the sign-in, whose cookie is bound to its path. */
  #proofOf(interaction: Interaction): UpstreamProof {
    const state = `${interaction.uid}.${this.#derived('state', interaction)}`;
    const redirectUri = `${this.#deps.baseUrl}${UPSTREAM_CALLBACK_PATH}`;
    return { state, nonce: this.#derived('nonce', interaction), verifier: this.#derived('verifier', interaction), redirectUri };
  }

  #targetOf(interaction: Interaction): { action: string; csrf: string } {
    return { action: `${this.#deps.mountPath}/interaction/${interaction.uid}`, csrf: this.#derived('form', interaction) };
  }

  async #signInPage(
    interaction: Interaction,
    status: number,
    said: Pick<SignInView, 'email' | 'problem'>,
  ): Promise<{ status: number; html: string }> {
    const client = await this.#clientOf(interaction);
    const view = { clientName: client?.name ?? OWN_NAME, upstreamName: this.#deps.upstream?.name, ...said };
    return { status, html: signInPage({ ...this.#targetOf(interaction), ...view }) };
  }

  async #nextPage(interaction: Interaction): Promise<Outcome> {
    const client = await this.#clientOf(interaction);
    const memberships = await validMemberships(this.#deps.teams, interaction.session?.accountId ?? '', await this.#loginTsOf(interaction));
    if (!client) return { status: 200, html: teamChoicePage({ ...this.#targetOf(interaction), teams: await this.#named(memberships) }) };
    const member = memberships.find(({ teamId }) => teamId === client.teamId);
    if (!member) return { status: 403, html: errorPage('access_denied', `You are no member of the team that ${client.name} is for.`) };
    const [team] = await this.#named([member]);
    const destination = new URL(String(interaction.params['redirect_uri'])).host || String(interaction.params['redirect_uri']);
    const view = { clientName: client.name, teamName: team!.name, email: member.email, destination, wishes: wishesOf(interaction, client) };
    return { status: 200, html: consentPage({ ...this.#targetOf(interaction), ...view }) };
  }

  /** Sign-in time of the session's person, seconds. */
  async #loginTsOf({ session }: Interaction): Promise<number | undefined> {
    return session?.uid === undefined ? undefined : (await this.#deps.provider.Session.findByUid(session.uid))?.loginTs;
  }

  /** Earliest valid sign-in time across all teams of the person, milliseconds: a new sign-in is valid in every team. */
  async #sessionsSince(userId: string, passwordSince: number): Promise<number> {
    return Math.max(passwordSince, ...(await this.#deps.teams.sessionsSince(userId)).values());
  }

  async #named(memberships: readonly Member[]): Promise<{ id: string; name: string; role: string }[]> {
    return Promise.all(
      memberships.map(async ({ teamId, role }) => ({ id: teamId, name: (await this.#deps.teams.findTeam(teamId)).name, role })),
    );
  }

  /** Undefined for the first-party application. */
  async #clientOf(interaction: Interaction): Promise<Client | undefined> {
    const id = clientIdOf(interaction);
    if (id === CONSOLE_CLIENT_ID) return undefined;
    const found = await this.#deps.clients.find(id);
    if (!found) throw new errors.InvalidClient('the application is no longer registered');
    return found.client;
  }

  async #finish(exchange: Exchange, result: Parameters<Provider['interactionResult']>[2], merge = false): Promise<Outcome> {
    const options = { mergeWithLastSubmission: merge };
    return { location: await this.#deps.provider.interactionResult(exchange.request, exchange.response, result, options) };
  }

  /**
   * Recorded only in the audit log of the team that this sign-in leads to. A person of several teams has yet to choose; the log of the
   * chosen team gets the entry then ({@link confirm}).
   */
  async #report(exchange: Exchange, interaction: Interaction, memberships: readonly Member[], result: number): Promise<void> {
    if (result !== 200) this.#deps.log.info({ source: exchange.source, reason: 'wrong address or password' }, 'a sign-in failed');
    const client = await this.#clientOf(interaction);
    const [only, ...others] = memberships;
    const member = client ? memberships.find(({ teamId }) => teamId === client.teamId) : others.length === 0 ? only : undefined;
    if (member) this.#record(exchange, interaction, member, result);
  }

  #record({ source }: Exchange, interaction: Interaction, { teamId, userId }: Member, result: number): void {
    this.#deps.audit.record({
      team_id: teamId,
      actor_kind: 'user',
      actor_id: userId,
      source,
      action: result === 200 ? 'login' : 'failed login',
      target: clientIdOf(interaction),
      result,
    });
  }
}

function isSame(presented: string, expected: string): boolean {
  const [one, other] = [Buffer.from(presented), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function clientIdOf(interaction: Interaction): string {
  return String(interaction.params['client_id']);
}

/** Who is expected to sign in, as the client says (OpenID Connect Core 1.0 section 3.1.2.1); empty when it does not. */
function hintOf({ params: { login_hint: hint } }: Interaction): string {
  return typeof hint === 'string' && hint.length <= LONGEST_EMAIL ? hint : '';
}

function scopesOf(interaction: Interaction): { oidcScope: string; api: boolean } {
  const { scope } = interaction.params;
  const asked = typeof scope === 'string' ? scope.split(' ') : [];
  return {
    oidcScope: asked.filter((scope) => ['openid', 'email', 'offline_access'].includes(scope)).join(' '),
    api: asked.includes(API_SCOPE),
  };
}

const ROLE_WISHES = {
  viewer: 'see routers, jobs, forwards and devices of the team',
  operator: 'see the team’s routers, run commands and jobs on them, and open forwards',
  admin: 'do everything you may do in the team, its members and keys included',
} as const;

function wishesOf(interaction: Interaction, client: Client): string[] {
  const { oidcScope, api } = scopesOf(interaction);
  const wishes = ['know who you are'];
  if (oidcScope.includes('email')) wishes.push('know your email address');
  if (api) wishes.push(ROLE_WISHES[client.role]);
  if (oidcScope.includes('offline_access')) wishes.push('keep access while you are away');
  return wishes;
}
