import { useState } from 'react';
import type { Invitation } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';

/** What became of an invitation, for people. */
const STATES: Record<Invitation['state'], string> = {
  open: 'open',
  accepted: 'accepted',
  declined: 'declined',
  withdrawn: 'withdrawn',
  expired: 'expired',
  void: 'void: who invited may no longer',
};

/** Invitations of the team, the newest first, and what became of them. */
export function Invitations() {
  const list = useList('invitations', 'listInvitations', { query: { limit: 100 } });
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  return (
    <Section title="Invitations" small="newest first">
      <ShortTable<Invitation>
        label="Invitations"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Person', width: 'minmax(160px, 2fr)', className: 'el', cell: ({ email }) => <b>{email}</b> },
          { title: 'Role', width: '100px', cell: ({ role }) => role },
          {
            title: 'State',
            width: 'minmax(120px, 1fr)',
            cell: ({ state, expires_at: end }) =>
              state === 'open' ? (
                <>
                  open until <Moment at={end} />
                </>
              ) : (
                <span className="dim">{STATES[state]}</span>
              ),
          },
          {
            title: 'Invited by',
            width: 'minmax(120px, 1fr)',
            className: 'el dim',
            isWide: true,
            cell: ({ invited_by: by }) => by ?? "the server's operator",
          },
          { title: 'Made', width: '90px', className: 'dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
          {
            title: 'Actions',
            width: '90px',
            className: 'row-acts',
            cell: (invitation) =>
              invitation.state === 'open' ? (
                <button type="button" className="btn quiet sm" onClick={() => setWithdrawn(invitation)}>
                  Withdraw<span className="sr"> the invitation of {invitation.email}</span>
                </button>
              ) : null,
          },
        ]}
        empty={<Empty title="Nobody is invited.">An invitation is a link that works once and for seven days. Invite a person above.</Empty>}
      />
      {withdrawn === undefined ? null : (
        <Confirm
          title={`Withdraw the invitation of ${withdrawn.email}?`}
          action="Withdraw invitation"
          operation="withdrawInvitation"
          input={{ path: { invitation_id: withdrawn.id } }}
          stale={['invitations']}
          onClose={() => setWithdrawn(undefined)}
        >
          <p>The link stops working at once. You can invite the person again.</p>
        </Confirm>
      )}
    </Section>
  );
}
