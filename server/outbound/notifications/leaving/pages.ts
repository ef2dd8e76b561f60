import { escapeHtml, page } from '../../../platform/core/html-page.ts';

/** Pages behind the links of messages. A GET shows them; only a POST acts, because mail scanners open every link. */

export interface Page {
  status: number;
  html: string;
}

const strong = (text: string): string => `<strong>${escapeHtml(text)}</strong>`;

function button(name: string, value: string, text: string, quiet = false): string {
  return `<form method="post"><input type="hidden" name="${name}" value="${value}">
<button${quiet ? ' class="quiet"' : ''} type="submit">${escapeHtml(text)}</button></form>`;
}

export function unsubscribePage({
  email,
  team,
  group,
  hasTopics,
}: {
  email: string;
  team: string;
  group: string | null;
  hasTopics: boolean;
}): Page {
  const choices = [
    ...(hasTopics ? [button('scope', 'topic', 'No more messages about this topic')] : []),
    ...(group === null ? [] : [button('scope', 'group', `No more messages of ${group}`, hasTopics)]),
    button('scope', 'all', `No more messages of the team ${team}`, true),
  ];
  const text = `<p>Notifications of the team ${strong(team)} for ${strong(email)}. What do you not want any more?</p>`;
  return { status: 200, html: page('Unsubscribe', `${text}\n${choices.join('\n')}`) };
}

export function unsubscribedPage(): Page {
  return {
    status: 200,
    html: page(
      'Unsubscribed',
      '<p>You do not get these messages any more. To get them again, sign in and open your notification settings.</p>',
    ),
  };
}

export function confirmPage({ email, team }: { email: string; team: string }): Page {
  return {
    status: 200,
    html: page(
      'Confirm your address',
      `<p>${strong(email)} of the team ${strong(team)} wants to get notifications at this address.</p>
${button('confirm', 'yes', 'Confirm')}
<p class="hint">If you do not know about this, close the page: no message will come.</p>`,
    ),
  };
}

export function confirmedPage(): Page {
  return { status: 200, html: page('Confirmed', '<p>Notifications can now be sent to this address. You may close this page.</p>') };
}

/** @param taker who has it already; null for nobody */
export function acknowledgePage({ subject, taker }: { subject: string; taker: string | null }): Page {
  const has = taker === null ? '' : `<p>${strong(taker)} has taken this over.</p>\n`;
  const text = `<p>${strong(subject)}</p>\n${has}<p>Take it over, and nobody is reminded of it any more. You all hear when it is over.</p>`;
  return { status: 200, html: page('Take over', `${text}\n${button('acknowledge', 'yes', 'I take it over')}`) };
}

export function acknowledgedPage({ subject }: { subject: string }): Page {
  return { status: 200, html: page('You have taken this over', `<p>${strong(subject)}</p>\n<p>You may close this page.</p>`) };
}

export function overPage({ subject }: { subject: string }): Page {
  return { status: 200, html: page('This is over', `<p>${strong(subject)}</p>\n<p>There is nothing to do.</p>`) };
}

export function uselessPage(): Page {
  return {
    status: 404,
    html: page(
      'This link does not work',
      '<p>It was used before, has expired, or was replaced by a newer one. Ask for another message.</p>',
    ),
  };
}
