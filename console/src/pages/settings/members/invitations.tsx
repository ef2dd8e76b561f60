import { useState } from 'react';
import type { Invitation, Member } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import type { RecordList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { words } from './words.ts';

/** Invitations of the team, the newest first, and what became of them. */
export function Invitations({ members }: { members: Pick<RecordList<Member>, 'records' | 'hasMore' | 'isFirst'> }) {
  const list = useList('invitations', 'listInvitations', { query: { limit: 100 } });
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  return (
    <Section title={words.invitations.title} small={words.invitations.small}>
      <ShortTable<Invitation>
        label={words.invitations.title}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: words.invitations.person, width: 'minmax(160px, 2fr)', className: 'el', cell: ({ email }) => <b>{email}</b> },
          { title: words.invitations.role, width: '100px', cell: ({ role }) => role },
          {
            title: words.invitations.state,
            width: 'minmax(120px, 1fr)',
            cell: ({ email, state, expires_at: end }) =>
              state === 'open' ? (
                fill(words.invitations.openUntil, { time: <Moment at={end} /> })
              ) : (
                <span className="dim">{state === 'accepted' && hasLeft(email, members) ? words.state.left : words.state[state]}</span>
              ),
          },
          {
            title: words.invitations.by,
            width: 'minmax(120px, 1fr)',
            className: 'el dim',
            isWide: true,
            cell: ({ invited_by: by }) => by ?? words.invitations.operator,
          },
          {
            title: words.invitations.made,
            width: '90px',
            className: 'dim',
            isWide: true,
            cell: ({ created_at: at }) => <Moment at={at} />,
          },
          {
            title: words.invitations.actions,
            width: '90px',
            className: 'row-acts',
            cell: (invitation) =>
              invitation.state === 'open' ? (
                <button type="button" className="btn quiet sm" onClick={() => setWithdrawn(invitation)}>
                  {words.invitations.withdraw}
                  <span className="sr"> {words.invitations.which(invitation.email)}</span>
                </button>
              ) : null,
          },
        ]}
        empty={<Empty title={words.invitations.empty}>{words.invitations.emptyText}</Empty>}
      />
      {withdrawn === undefined ? null : (
        <Confirm
          title={words.withdraw.title(withdrawn.email)}
          action={words.withdraw.act}
          operation="withdrawInvitation"
          input={{ path: { invitation_id: withdrawn.id } }}
          stale={['invitations']}
          onClose={() => setWithdrawn(undefined)}
        >
          <p>{words.withdraw.about}</p>
        </Confirm>
      )}
    </Section>
  );
}

/** False as long as not all members are known. */
function hasLeft(email: string, { records, hasMore, isFirst }: Parameters<typeof Invitations>[0]['members']): boolean {
  return !isFirst && !hasMore && records.length > 0 && !records.some((member) => member.email === email);
}
