import type { AuditService } from '../../audit/service.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { networkOf } from '../../../platform/core/network-of.ts';
import { asPasswordCaller } from '../../teams/service.ts';
import type { PasswordLinksService } from '../../teams/service.ts';
import type { Exchange, Outcome } from '../sign-in/interactions.ts';
import { passwordPage, passwordSetPage, refusedPage, uselessLinkPage } from './link-pages.ts';
import type { LinkVisits } from './visits.ts';

export interface PasswordVisitsDeps {
  baseUrl: string;
  visits: LinkVisits;
  passwordLinks: PasswordLinksService;
  audit: AuditService;
}

const USELESS: Outcome = { status: 404, html: uselessLinkPage() };

/** The pages behind a password link. */
export class PasswordVisits {
  readonly #deps: PasswordVisitsDeps;

  constructor(deps: PasswordVisitsDeps) {
    this.#deps = deps;
  }

  async show(exchange: Exchange, code: string): Promise<Outcome> {
    return this.#page(exchange, code, 200);
  }

  async set(exchange: Exchange, code: string): Promise<Outcome> {
    const { baseUrl, visits, passwordLinks, audit } = this.#deps;
    if (!visits.isOurForm(exchange, code)) return { status: 400, html: refusedPage('This answer did not come from our page.') };
    const { new_password: next = '', repeated } = exchange.form;
    if (next !== repeated) return this.#page(exchange, code, 422, 'The two new passwords are not the same.');
    try {
      const caller = { network: networkOf(exchange.source), account: code, isKnown: false };
      const { teamId: team_id, userId, email } = await asPasswordCaller(caller, () => passwordLinks.use(code, next));
      const entry = { team_id, actor_kind: 'user', actor_id: userId, source: exchange.source };
      audit.record({ ...entry, action: 'set password by link', target: null, result: 200 });
      return { status: 200, html: passwordSetPage(email, `${baseUrl}/`) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'conflict') return USELESS;
      if (error.code !== 'invalid') throw error;
      return this.#page(exchange, code, 422, error.message);
    }
  }

  async #page(exchange: Exchange, code: string, status: number, problem?: string): Promise<Outcome> {
    const link = await this.#deps.passwordLinks.findOpen(code);
    if (!link) return USELESS;
    const { email, teamName } = link;
    return { status, html: passwordPage({ ...this.#deps.visits.target(exchange, code), email, teamName, problem }) };
  }
}
