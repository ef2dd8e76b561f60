import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EnrolToken } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { Moves } from './moves.tsx';

/** How agents get in, and which routers wait to change their agent. */
export function EnrolmentPage() {
  return (
    <SettingsPage
      name="Enrolment"
      note="An agent gets in with a token that works once. A router that another agent reports waits until somebody allows the move."
      actions={
        <Link to="/agents/new" className="btn main-act">
          Connect an agent
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
    <Section title="Enrolment tokens" small="newest first">
      <ShortTable<EnrolToken>
        label="Enrolment tokens"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Made', width: '100px', cell: ({ created_at: at }) => <Moment at={at} /> },
          { title: 'State', width: 'minmax(160px, 1fr)', cell: (token) => <State token={token} /> },
          {
            title: 'For',
            width: 'minmax(140px, 1fr)',
            className: 'dim',
            cell: ({ replaces_agent_id: old }) => (old === null ? 'a new agent' : 'replacing an agent'),
          },
          { title: 'Id', width: 'minmax(140px, 1.4fr)', className: 'id dim el', isWide: true, cell: ({ id }) => id },
          {
            title: 'Actions',
            width: '90px',
            className: 'row-acts',
            cell: (token) =>
              token.status === 'open' ? (
                <button type="button" className="btn quiet sm" onClick={() => setRevoked(token)}>
                  Revoke<span className="sr"> the token {token.id}</span>
                </button>
              ) : null,
          },
        ]}
        empty={
          <Empty title="No token was made yet.">A token lets one agent in, once and for 24 hours. Connecting an agent makes it.</Empty>
        }
      />
      {revoked === undefined ? null : (
        <Confirm
          title="Revoke this token?"
          action="Revoke token"
          operation="revokeEnrolToken"
          input={{ path: { token_id: revoked.id } }}
          stale={['enrol-tokens']}
          onClose={() => setRevoked(undefined)}
        >
          <p>No agent gets in with it any more. Agents that are in are not touched.</p>
        </Confirm>
      )}
    </Section>
  );
}

function State({ token: { status, expires_at: end, used_at: usedAt, revoked_at: revokedAt } }: { token: EnrolToken }) {
  switch (status) {
    case 'open':
      return (
        <>
          open until <Moment at={end} />
        </>
      );
    case 'used':
      return (
        <span className="dim">
          used <Moment at={usedAt} />
        </span>
      );
    case 'revoked':
      return (
        <span className="dim">
          revoked <Moment at={revokedAt} />
        </span>
      );
    case 'expired':
      return (
        <span className="dim">
          expired <Moment at={end} />
        </span>
      );
  }
}
