import { AppError } from '../../../platform/core/errors.ts';
import type { AuditService } from '../../audit/service.ts';
import type { Exchange, Outcome } from '../sign-in/interactions.ts';
import type { FirstAccount } from './first-account.ts';
import { refusedPage, setUpPage, setupPage, uselessSetupPage } from './link-pages.ts';
import type { SetupView } from './link-pages.ts';
import type { LinkVisits } from './visits.ts';

export interface SetupVisitsDeps {
  baseUrl: string;
  visits: LinkVisits;
  firstAccount: FirstAccount;
  audit: AuditService;
}

/** The page behind the link that a control plane without accounts prints on its terminal. */
export class SetupVisits {
  readonly #deps: SetupVisitsDeps;

  constructor(deps: SetupVisitsDeps) {
    this.#deps = deps;
  }

  async show(exchange: Exchange, code: string): Promise<Outcome> {
    if (!(await this.#deps.firstAccount.isOpen(code))) return this.#useless();
    return { status: 200, html: setupPage(this.#deps.visits.target(exchange, code)) };
  }

  async create(exchange: Exchange, code: string): Promise<Outcome> {
    const { baseUrl, visits, firstAccount, audit } = this.#deps;
    if (!visits.isOurForm(exchange, code)) return { status: 400, html: refusedPage('This answer did not come from our page.') };
    const { team: teamName = '', email = '', new_password: password = '', repeated } = exchange.form;
    const again = (problems: Pick<SetupView, 'problem' | 'emailProblem' | 'passwordProblem'>): Outcome => ({
      status: 422,
      html: setupPage({ ...visits.target(exchange, code), teamName, email, ...problems }),
    });
    if (password !== repeated) return again({ passwordProblem: 'The two new passwords are not the same.' });
    try {
      const member = await firstAccount.create(code, { teamName, email, password });
      if (!member) return this.#useless();
      const entry = { team_id: member.teamId, actor_kind: 'user', actor_id: member.userId, source: exchange.source };
      audit.record({ ...entry, action: 'made the first account', target: null, result: 200 });
      return { status: 200, html: setUpPage(teamName, member.email, `${baseUrl}/`) };
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'invalid' && error.code !== 'conflict')) throw error;
      return again({ [fieldOf(error)]: sentenceOf(error) });
    }
  }

  #useless(): Outcome {
    return { status: 404, html: uselessSetupPage(`${this.#deps.baseUrl}/`) };
  }
}

/** Where the page says what is wrong. */
function fieldOf({ errors = {} }: AppError): 'problem' | 'emailProblem' | 'passwordProblem' {
  if ('password' in errors) return 'passwordProblem';
  return 'email' in errors ? 'emailProblem' : 'problem';
}

function sentenceOf({ message }: AppError): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}
