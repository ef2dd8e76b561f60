import type { Role } from '../../../platform/core/principal.ts';
import type { Invitation } from '../../teams/service.ts';
import { escapeHtml, page } from '../../../platform/core/html-page.ts';
import { buttonForm } from '../provider/sign-in-pages.ts';
import type { FormTarget } from '../provider/sign-in-pages.ts';

/** The pages behind links sent to people: joining a team, and setting a new password. */

/** @param problem what is wrong with the password that was sent: said at the field, which gets the focus */
function newPasswordFields(problem?: string): string {
  const marked = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem" autofocus';
  return `<label>New password<input name="new_password" type="password" autocomplete="new-password" minlength="8" maxlength="256" required${marked}></label>
${problem === undefined ? '' : `<p role="alert" id="problem">${escapeHtml(problem)}</p>\n`}<p class="hint">8 to 256 characters. A few words that only you would put together are good; your address and common passwords are refused.</p>
<label>New password again<input name="repeated" type="password" autocomplete="new-password" minlength="8" maxlength="256" required></label>`;
}

function alert(problem: string | undefined): string {
  return problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>\n`;
}

/** For password managers, which look for the name beside the password. */
function emailField(email: string): string {
  return `<label>Email address<input name="email" type="email" autocomplete="username" readonly value="${escapeHtml(email)}"></label>`;
}

export interface InvitationView extends FormTarget {
  teamName: string;
  role: Role;
  inviter: Pick<Invitation['inviter'], 'kind' | 'name'>;
  email: string;
  problem?: string | undefined;
  /** The current password was missing or wrong: its field is shown. */
  needsCurrent?: boolean | undefined;
  /** Name of the upstream identity provider, if one is configured. */
  upstreamName?: string | undefined;
}

const ROLE_RIGHTS: Readonly<Record<Role, string>> = {
  viewer: 'see its routers, jobs, forwards and devices',
  operator: 'see its routers, run commands and jobs on them, and open forwards',
  admin: 'do everything in it, members and keys included',
};

/** The same whether or not the address has an account here: the inviter can open the link too. */
export function invitationPage(view: InvitationView): string {
  const { action, csrf, teamName, role, inviter, email, problem, needsCurrent, upstreamName } = view;
  return page(
    `Join ${teamName}?`,
    `<p>${nameOf(inviter)} invites you to the team <strong>${escapeHtml(teamName)}</strong> as <strong>${escapeHtml(role)}</strong>.
You will be able to ${ROLE_RIGHTS[role]}.</p>
${alert(problem)}<form method="post" action="${escapeHtml(action)}/accept">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
${emailField(email)}
${newPasswordFields()}
<details${needsCurrent === true ? ' open' : ''}><summary>I have an account on this server already</summary>
<label>Current password<input name="current_password" type="password" autocomplete="current-password" maxlength="256"></label>
<p class="hint">It is replaced by the new one, and you are signed out everywhere.</p>
</details>
<button type="submit">Join the team</button>
</form>
${upstreamName === undefined ? '' : upstreamForm({ action, csrf }, upstreamName)}${buttonForm({ action: `${action}/decline`, csrf }, 'Decline')}`,
  );
}

/** Shows the kind of the inviter: the names of keys and teams are free text. */
function nameOf({ kind, name }: InvitationView['inviter']): string {
  if (kind === 'operator') return 'The operator of this server';
  const strong = `<strong>${escapeHtml(name ?? '')}</strong>`;
  return kind === 'api_key' ? `The API key ${strong}` : strong;
}

function upstreamForm({ action, csrf }: FormTarget, name: string): string {
  return `${buttonForm({ action: `${action}/upstream`, csrf }, `Join with ${name}`)}
<p class="hint">You then sign in with ${escapeHtml(name)} only. A password that you have here is deleted.</p>
`;
}

export interface PasswordView extends FormTarget {
  email: string;
  teamName: string;
  problem?: string | undefined;
}

export function passwordPage({ action, csrf, email, teamName, problem }: PasswordView): string {
  return page(
    'Set a new password',
    `<p>An administrator of the team <strong>${escapeHtml(teamName)}</strong> has made this link for you. You are signed out everywhere once you have set it.</p>
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
${emailField(email)}
${newPasswordFields(problem)}
<button type="submit">Set the password</button>
</form>`,
  );
}

/** @param home the address of the web application */
function signInLink(email: string, home: string): string {
  return `<p>Sign in as <strong>${escapeHtml(email)}</strong> with the new password.</p>
<a class="act" href="${escapeHtml(`${home}#sign-in=${encodeURIComponent(email)}`)}">Sign in</a>`;
}

export interface SetupView extends FormTarget {
  teamName?: string;
  email?: string;
  /** Neither the password nor the address is wrong. */
  problem?: string | undefined;
  emailProblem?: string | undefined;
  passwordProblem?: string | undefined;
}

/** The first team and its administrator. What is wrong is said at its field, which gets the focus. */
export function setupPage(view: SetupView): string {
  const { action, csrf, teamName = '', email = '', problem, emailProblem, passwordProblem } = view;
  const isTeamFirst = emailProblem === undefined && passwordProblem === undefined;
  const marked = emailProblem === undefined ? '' : ' aria-invalid="true" aria-describedby="email-problem" autofocus';
  return page(
    'The first account',
    `<p>You run this control plane. Make a team for your routers, and yourself its administrator.</p>
${alert(problem)}<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<label>Name of the team<input name="team" maxlength="100" required value="${escapeHtml(teamName)}" placeholder="My network"${isTeamFirst ? ' autofocus' : ''}></label>
<label>Your email address<input name="email" type="email" autocomplete="username" maxlength="254" required value="${escapeHtml(email)}"${marked}></label>
${emailProblem === undefined ? '' : `<p role="alert" id="email-problem">${escapeHtml(emailProblem)}</p>\n`}${newPasswordFields(passwordProblem)}
<button type="submit">Make the team and the account</button>
</form>`,
  );
}

/** The link that a control plane without accounts prints works no more, or is of an earlier start. */
export function uselessSetupPage(home: string): string {
  return page(
    'This link does not work',
    `<p>It was used before, or the control plane has been started again since. As long as nobody has an account, it prints a new link in its terminal whenever it starts.</p>
<a class="act" href="${escapeHtml(home)}">Sign in</a>`,
  );
}

export function setUpPage(teamName: string, email: string, home: string): string {
  return page(
    'Welcome',
    `<p>The team <strong>${escapeHtml(teamName)}</strong> is there, and you administer it and this installation.</p>
${signInLink(email, home)}`,
  );
}

export function joinedPage(teamName: string, email: string, home: string): string {
  return page(
    'Welcome',
    `<p>You are a member of the team <strong>${escapeHtml(teamName)}</strong>.</p>
${signInLink(email, home)}`,
  );
}

export function declinedPage(teamName: string): string {
  return page(
    'Declined',
    `<p>You have not joined the team <strong>${escapeHtml(teamName)}</strong>. The link no longer works. You may close this page.</p>`,
  );
}

export function passwordSetPage(email: string, home: string): string {
  return page('The password is set', signInLink(email, home));
}

export function uselessLinkPage(): string {
  return page(
    'This link does not work',
    '<p>It was used before, has expired, or was withdrawn or replaced. Ask the sender for another one.</p>',
  );
}

export function refusedPage(problem: string): string {
  return page('This did not work', `${alert(problem)}<p>Open your link again.</p>`);
}
