import { FIRST_ACCOUNT } from '../../../built.ts';
import { escapeHtml, page } from '../../../platform/core/html-page.ts';

/** The sign-in and sign-out pages: no script, no external content. */

/** Target of a form, and its CSRF token. */
export interface FormTarget {
  action: string;
  csrf: string;
}

export interface SignInView extends FormTarget {
  clientName: string;
  email?: string;
  /** Reason of the failure. */
  problem?: string;
  /** Name of the upstream identity provider, if one is configured. */
  upstreamName?: string | undefined;
}

/** The web application of this control plane, whose sign-in needs no explanation. */
export const OWN_NAME = 'Signalbox';

export function signInPage({ action, csrf, clientName, email = '', problem, upstreamName }: SignInView): string {
  return page(
    'Sign in',
    `${clientName === OWN_NAME ? '' : `<p>to continue to <strong>${escapeHtml(clientName)}</strong></p>`}
${problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`}
<form method="post" action="${escapeHtml(action)}/login">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<label>Email address<input name="email" type="email" autocomplete="username" maxlength="254" required value="${escapeHtml(email)}"${email === '' ? ' autofocus' : ''}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" maxlength="256" required${email === '' ? '' : ' autofocus'}></label>
<button type="submit">Sign in</button>
</form>
<p class="hint">Forgot the password? An administrator of your team makes a link for a new one.</p>
${upstreamName === undefined ? '' : buttonForm({ action: `${action}/upstream`, csrf }, `Sign in with ${upstreamName}`)}
${buttonForm({ action: `${action}/abort`, csrf }, 'Cancel')}`,
  );
}

/**
 * Instead of the sign-in, as long as nobody could pass it.
 * @param home the address of the web application
 * @param isSeen the browser was told so before
 */
export function noAccountPage(home: string, isSeen: boolean): string {
  return page(
    'No account yet',
    `${isSeen ? '<p role="alert">There is still no account.</p>\n' : ''}<p>Nobody has an account on this control plane. The terminal in which it was started shows a link: open it, and make the first account there.</p>
<p>Where no terminal shows one, as under systemd or in a container, make the account on its machine, with the same settings and in the same folder:</p>
<pre>${escapeHtml(FIRST_ACCOUNT.join('\n'))}</pre>
<p><a href="${escapeHtml(home)}">I have an account now</a></p>`,
    'wide',
  );
}

export interface TeamChoiceView extends FormTarget {
  teams: readonly { id: string; name: string; role: string }[];
}

export function teamChoicePage({ action, csrf, teams }: TeamChoiceView): string {
  const choices = teams
    .map(
      ({ id, name, role }) =>
        `<button class="quiet" type="submit" name="team" value="${escapeHtml(id)}">${escapeHtml(name)} (${escapeHtml(role)})</button>`,
    )
    .join('\n');
  return page(
    'Choose a team',
    `<form method="post" action="${escapeHtml(action)}/confirm">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
${choices}
</form>`,
  );
}

export interface ConsentView extends FormTarget {
  clientName: string;
  teamName: string;
  email: string;
  /** Host of the redirect address. */
  destination: string;
  /** The requested rights as text. */
  wishes: readonly string[];
}

export function consentPage({ action, csrf, clientName, teamName, email, destination, wishes }: ConsentView): string {
  return page(
    `Allow ${clientName}?`,
    `<p><strong>${escapeHtml(clientName)}</strong> of the team <strong>${escapeHtml(teamName)}</strong> asks to:</p>
<ul>
${wishes.map((wish) => `<li>${escapeHtml(wish)}</li>`).join('\n')}
</ul>
<p>You are ${escapeHtml(email)}. The answer goes to ${escapeHtml(destination)}.</p>
<form method="post" action="${escapeHtml(action)}/confirm">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<button type="submit">Allow</button>
</form>
${buttonForm({ action: `${action}/abort`, csrf }, 'Cancel')}`,
  );
}

/** A button that submits only the CSRF token. */
export function buttonForm({ action, csrf }: FormTarget, text: string): string {
  return `<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<button class="quiet" type="submit">${escapeHtml(text)}</button>
</form>`;
}

/** @param form the provider's form, which the buttons submit */
export function signOutPage(form: string): string {
  return page(
    'Sign out?',
    `${form}
<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button class="quiet" type="submit" form="op.logoutForm">Stay signed in</button>`,
  );
}

export function signedOutPage(): string {
  return page('You are signed out', '<p>You may close this page.</p>');
}

/** Only the application's own session has ended. */
export function stayedPage(): string {
  return page('You stay signed in', '<p>The application that you came from has ended its own session. You may close this page.</p>');
}

export function errorPage(error: string, description: string | undefined): string {
  return page(
    'This did not work',
    `<p role="alert">${escapeHtml(description ?? error)}</p>
<p>Go back to the application and begin again. Its maker may want to know: <code>${escapeHtml(error)}</code></p>`,
  );
}
