import type { AuditService } from '../../audit/service.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { asPasswordCaller } from '../../teams/service.ts';
import type { Invitation, InvitationsService, Proof, TeamsService } from '../../teams/service.ts';
import { tryAgainIn } from '../sign-in/wait-words.ts';
import { passwordCallerOf } from '../sign-in/attempts.ts';
import type { SignInAttempts } from '../sign-in/attempts.ts';
import type { Exchange, Outcome } from '../sign-in/interactions.ts';
import { UPSTREAM_CALLBACK_PATH } from '../types.ts';
import type { UpstreamProvider } from '../upstream/provider.ts';
import { declinedPage, invitationPage, joinedPage, refusedPage, uselessLinkPage } from './link-pages.ts';
import { isSame } from './visits.ts';
import type { LinkVisits } from './visits.ts';

/** Prefix of the OAuth state of an invitation, so that the upstream provider's answer is routed back here. */
export const INVITATION_STATE = 'invitation';

export interface InvitationVisitsDeps {
  baseUrl: string;
  visits: LinkVisits;
  invitations: InvitationsService;
  teams: TeamsService;
  attempts: SignInAttempts;
  audit: AuditService;
  upstream: UpstreamProvider | undefined;
  log: Log;
}

const TOO_MANY = 'There were too many wrong passwords.';
const FOREIGN_FORM = 'This answer did not come from our page.';

/** The pages behind an invitation link: show it, accept it with a proof of identity, or decline it. */
export class InvitationVisits {
  readonly #deps: InvitationVisitsDeps;

  constructor(deps: InvitationVisitsDeps) {
    this.#deps = deps;
  }

  async show(exchange: Exchange, code: string): Promise<Outcome> {
    const invitation = await this.#deps.invitations.findOpen(code);
    return invitation ? this.#page(exchange, code, invitation, 200) : USELESS;
  }

  /** Accepts the invitation with the password of the existing account, or with a new password for a new account. */
  async accept(exchange: Exchange, code: string): Promise<Outcome> {
    return this.#within(exchange, code, async (invitation) => {
      const { current_password: current = '', new_password: next = '', repeated } = exchange.form;
      if (next !== repeated) return this.#page(exchange, code, invitation, 422, 'The two new passwords are not the same.');
      const { attempts, teams } = this.#deps;
      const { email, teamId } = invitation;
      // Counted separately from the sign-in page, where strangers may use up the attempts, and once for all invitations of a team: its
      // administrators can create many, and know the code of each. They can also invite any address, so one limit covers all accounts
      // together: otherwise one password could be tried with each account.
      const team = `invitations of ${teamId}`;
      const passwordSince = await teams.passwordSince(email);
      const attempt = { account: email, passwordSince, source: exchange.source, knownBrowser: team, onBehalfOf: team };
      const retryAfter = await attempts.begin(attempt);
      if (retryAfter !== undefined)
        return { ...this.#page(exchange, code, invitation, 429, `${TOO_MANY} ${tryAgainIn(retryAfter)}`), retryAfter };
      try {
        // The code is no proof that the person is known here: an administrator can create many.
        const caller = { ...passwordCallerOf(attempt), isKnown: false };
        const outcome = await asPasswordCaller(caller, () => this.#join(exchange, invitation, { by: 'password', current, next }));
        await attempts.succeed(attempt);
        return outcome;
      } catch (error) {
        if (error instanceof AppError && error.code === 'unavailable') await attempts.withdraw(attempt);
        if (!(error instanceof AppError) || (error.code !== 'invalid' && error.code !== 'conflict')) throw error;
        const needsCurrent = error.errors?.['current_password'] !== undefined;
        if (!needsCurrent) await attempts.succeed(attempt);
        return this.#page(exchange, code, invitation, error.code === 'invalid' ? 422 : 409, error.message, needsCurrent);
      }
    });
  }

  async decline(exchange: Exchange, code: string): Promise<Outcome> {
    return this.#within(exchange, code, async (invitation) => {
      const { id, teamId: team_id, teamName } = invitation;
      if (!(await this.#deps.invitations.decline(invitation))) return USELESS;
      const actor = { actor_kind: 'invitation', actor_id: id, source: exchange.source };
      this.#deps.audit.record({ team_id, ...actor, action: 'declined invitation', target: id, result: 200, detail: detailOf(invitation) });
      return { status: 200, html: declinedPage(teamName) };
    });
  }

  /** Redirects to the upstream identity provider, which must verify the invited address. */
  async redirectToUpstream(exchange: Exchange, code: string): Promise<Outcome> {
    return this.#within(exchange, code, async ({ id }) => {
      const { upstream } = this.#deps;
      const proof = this.#proofOf(exchange, id);
      if (!upstream || !proof) return { status: 400, html: refusedPage('There is no other way to join.') };
      return { location: await upstream.authorizationUrl(proof) };
    });
  }

  /** The callback from the upstream provider, in the same browser. The button that led there was the acceptance. */
  async returnFromUpstream(
    exchange: Exchange,
    { code, state = '' }: { code?: string | undefined; state?: string | undefined },
  ): Promise<Outcome> {
    const { upstream, invitations } = this.#deps;
    const id = state.split('.')[1] ?? '';
    const proof = this.#proofOf(exchange, id);
    if (!upstream || !proof || !isSame(state, proof.state)) return { status: 400, html: refusedPage('This answer was not asked for.') };
    if (code === undefined) return { status: 401, html: refusedPage(`${upstream.name} did not sign you in.`) };
    return this.#asPage(async () => {
      const invitation = await invitations.findOpenById(id);
      if (!invitation) return USELESS;
      const email = await upstream.verifiedEmail(code, proof);
      if (email === undefined) return { status: 403, html: refusedPage(`${upstream.name} knows no verified address of yours.`) };
      const outcome = await this.#join(exchange, invitation, { by: 'provider', email });
      await this.#deps.teams.confirmEmail(email);
      return outcome;
    });
  }

  async #join({ source }: Exchange, invitation: Invitation, proof: Proof): Promise<Outcome> {
    const { userId } = await this.#deps.invitations.accept(invitation, proof);
    const { id, teamId: team_id, teamName, email } = invitation;
    const actor = { actor_kind: 'user', actor_id: userId, source };
    this.#deps.audit.record({ team_id, ...actor, action: 'accepted invitation', target: id, result: 200, detail: detailOf(invitation) });
    return { status: 200, html: joinedPage(teamName, email, `${this.#deps.baseUrl}/`) };
  }

  async #within(exchange: Exchange, code: string, act: (invitation: Invitation) => Promise<Outcome>): Promise<Outcome> {
    if (!this.#deps.visits.isOurForm(exchange, code)) return { status: 400, html: refusedPage(FOREIGN_FORM) };
    return this.#asPage(async () => {
      const invitation = await this.#deps.invitations.findOpen(code);
      return invitation ? act(invitation) : USELESS;
    });
  }

  /** Shows a refusal as a page. */
  async #asPage(act: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'forbidden' || error.code === 'conflict')
        return { status: error.code === 'forbidden' ? 403 : 409, html: refusedPage(error.message) };
      if (error.code !== 'unavailable') throw error;
      this.#deps.log.warn({ err: error.cause ?? error, reason: error.message }, 'an invitation could not be processed');
      return { status: 502, html: refusedPage(error.message) };
    }
  }

  #proofOf(exchange: Exchange, id: string): ReturnType<LinkVisits['proofFor']> {
    return this.#deps.visits.proofFor(exchange, INVITATION_STATE, id, `${this.#deps.baseUrl}${UPSTREAM_CALLBACK_PATH}`);
  }

  #page(
    exchange: Exchange,
    code: string,
    invitation: Invitation,
    status: number,
    problem?: string,
    needsCurrent = false,
  ): { status: number; html: string } {
    const { teamName, role, email, inviter } = invitation;
    const view = { teamName, role, inviter, email, problem, needsCurrent, upstreamName: this.#deps.upstream?.name };
    return { status, html: invitationPage({ ...this.#deps.visits.target(exchange, code), ...view }) };
  }
}

const USELESS: Outcome = { status: 404, html: uselessLinkPage() };

function detailOf({ email, role, inviter }: Invitation): string {
  return `${email} as ${role}, invited by ${inviter.name ?? 'the operator'}`;
}
