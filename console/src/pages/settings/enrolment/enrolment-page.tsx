import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EnrolToken } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { exactTime, weekdayTime } from '../../../parts/times.ts';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { Moves } from './moves.tsx';
import { words } from './words.ts';

/** How agents get in, and which routers wait to change their agent. */
export function EnrolmentPage() {
  return (
    <SettingsPage
      name={settingsWords.part.enrolment}
      note={words.note}
      actions={
        <Link to="/agents/new" className="btn main-act">
          {words.connect}
        </Link>
      }
    >
      <Moves />
      <Tokens />
    </SettingsPage>
  );
}

function Tokens() {
  const list = useList('enrol-tokens', 'listEnrolTokens', { query: { limit: 100 } });
  const [revoked, setRevoked] = useState<EnrolToken>();
  return (
    <Section title={words.tokens.title} small={words.tokens.small}>
      <ShortTable<EnrolToken>
        label={words.tokens.title}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: words.tokens.made, width: '100px', cell: ({ created_at: at }) => <Moment at={at} /> },
          { title: words.tokens.state, width: 'minmax(160px, 1fr)', cell: (token) => <State token={token} /> },
          {
            title: words.tokens.for,
            width: 'minmax(140px, 1fr)',
            className: 'dim',
            cell: ({ replaces_agent_id: old }) => (old === null ? words.tokens.forNew : words.tokens.forReplacing),
          },
          { title: words.tokens.id, width: 'minmax(140px, 1.4fr)', className: 'id dim el', isWide: true, cell: ({ id }) => id },
          {
            title: words.tokens.actions,
            width: '90px',
            className: 'row-acts',
            cell: (token) =>
              token.status === 'open' ? (
                <button type="button" className="btn quiet sm" onClick={() => setRevoked(token)}>
                  {words.tokens.revoke}
                  <span className="sr"> {words.tokens.revokeWhich(token.id)}</span>
                </button>
              ) : null,
          },
        ]}
        empty={<Empty title={words.tokens.empty}>{words.tokens.emptyText}</Empty>}
      />
      {revoked === undefined ? null : (
        <Confirm
          title={words.revoke.title}
          action={words.revoke.act}
          operation="revokeEnrolToken"
          input={{ path: { token_id: revoked.id } }}
          stale={['enrol-tokens']}
          onClose={() => setRevoked(undefined)}
        >
          <p>{words.revoke.about}</p>
        </Confirm>
      )}
    </Section>
  );
}

function State({ token: { status, expires_at: end, used_at: usedAt, revoked_at: revokedAt } }: { token: EnrolToken }) {
  switch (status) {
    case 'open':
      return fill(words.tokens.open, {
        // A day ahead: the time alone would read like today's.
        time: (
          <time dateTime={end} title={exactTime(end)}>
            {weekdayTime(end)}
          </time>
        ),
      });
    case 'used':
      return <span className="dim">{fill(words.tokens.used, { time: <Moment at={usedAt} /> })}</span>;
    case 'revoked':
      return <span className="dim">{fill(words.tokens.revoked, { time: <Moment at={revokedAt} /> })}</span>;
    case 'expired':
      return <span className="dim">{fill(words.tokens.expired, { time: <Moment at={end} /> })}</span>;
  }
}
