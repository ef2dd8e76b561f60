import { createHash } from 'node:crypto';

/** The sign-in and sign-out pages: no script, no external content. */

const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--soft:#5a6775;--paper:#f3f5f7;--card:#fff;--line:#ccd3da;--accent:#0b5cad;--bad:#a3231b}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--soft:#a3afbb;--paper:#11161c;--card:#1a2129;--line:#3a4652;--accent:#6cb2f5;--bad:#ff8f86}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:min(24rem,calc(100vw - 2rem));margin:1rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.brand{margin:0 0 1rem;color:var(--soft);font-weight:600}
h1{margin:0 0 .5rem;font-size:1.35rem}
p{margin:.5rem 0;color:var(--soft)}
ul{margin:.5rem 0;padding-left:1.25rem;color:var(--soft)}
label{display:block;margin-top:1rem;font-weight:600}
input{width:100%;margin-top:.25rem;padding:.6rem;font:inherit;font-weight:400;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.3rem}
input[readonly]{color:var(--soft);border-style:dashed}
.hint{margin:.25rem 0 0;font-size:.875rem}
h1,strong,li{overflow-wrap:anywhere}
strong{color:var(--ink)}
button{width:100%;margin-top:1rem;padding:.7rem;font:inherit;font-weight:600;color:var(--card);background:var(--accent);border:0;border-radius:.3rem;cursor:pointer}
button.quiet{color:var(--ink);background:transparent;border:1px solid var(--line)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
[role=alert]{color:var(--bad);font-weight:600}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** No `form-action`: Chromium would apply it to the redirect to the client. Everything else is forbidden. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for a page, also inside quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);
}

/** A complete page. @param title as text @param content as HTML */
export function page(title: string, content: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} – Signalbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">Signalbox</p>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}

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

export function signInPage({ action, csrf, clientName, email = '', problem, upstreamName }: SignInView): string {
  return page(
    'Sign in',
    `<p>to continue to <strong>${escapeHtml(clientName)}</strong></p>
${problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`}
<form method="post" action="${escapeHtml(action)}/login">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<label>Email address<input name="email" type="email" autocomplete="username" maxlength="254" required value="${escapeHtml(email)}"${email === '' ? ' autofocus' : ''}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" maxlength="256" required${email === '' ? '' : ' autofocus'}></label>
<button type="submit">Sign in</button>
</form>
${upstreamName === undefined ? '' : buttonForm({ action: `${action}/upstream`, csrf }, `Sign in with ${upstreamName}`)}
${buttonForm({ action: `${action}/abort`, csrf }, 'Cancel')}`,
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
