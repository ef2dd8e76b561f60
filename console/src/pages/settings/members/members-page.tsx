import { useState } from 'react';
import type { Member } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useMay } from '../../../session/use-may.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { ChangeMember } from './change-member.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import type { Ended, PersonalLink } from './types.ts';

/** Who is in the team, who was invited, and what each may do. */
export function MembersPage() {
  const isAdmin = useMay('admin');
  const [isInviting, setInviting] = useState(false);
  const [changed, setChanged] = useState<Member>();
  const [link, setLink] = useState<PersonalLink>();
  const [ended, setEnded] = useState<Ended>();
  return (
    <SettingsPage
      name="Members"
      note={
        isAdmin
          ? 'People join by a link that you send them. Nobody but they learn their password.'
          : 'Who is in the team. Administrators invite people and change roles.'
      }
      actions={
        isAdmin ? (
          <button type="button" className="btn main-act" onClick={() => setInviting(true)}>
            Invite a person
          </button>
        ) : undefined
      }
    >
      {link === undefined ? null : <LinkShownOnce link={link} onDone={() => setLink(undefined)} />}
      {ended === undefined ? null : <WhatEnded {...ended} />}
      <Members onChange={isAdmin ? setChanged : undefined} />
      {isAdmin ? <Invitations /> : null}
      {isInviting ? <Invite onClose={() => setInviting(false)} onInvited={setLink} /> : null}
      {changed === undefined ? null : (
        <ChangeMember member={changed} onClose={() => setChanged(undefined)} onLink={setLink} onEnded={setEnded} />
      )}
    </SettingsPage>
  );
}

function LinkShownOnce({ link: { kind, email, url, expiresAt }, onDone }: { link: PersonalLink; onDone: () => void }) {
  const isInvitation = kind === 'invitation';
  return (
    <ShownOnce title={isInvitation ? `Invitation of ${email}` : `Password link for ${email}`} text={url} label="the link" onDone={onDone}>
      Send it to {email} yourself: no mail is sent from here. It is shown only now, works once, and until <Moment at={expiresAt} />.{' '}
      {isInvitation ? 'Lost it? Invite the same address again.' : 'Until it is used, the old password stays.'}
    </ShownOnce>
  );
}

/** @param onChange given to those who may change members */
function Members({ onChange }: { onChange: ((member: Member) => void) | undefined }) {
  const { me } = useFleet();
  const list = useList('members', 'listMembers', { query: { limit: 200 } });
  return (
    <ShortTable<Member>
      label="Members"
      list={list}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Person',
          width: 'minmax(160px, 2fr)',
          className: 'el',
          cell: ({ id, email }) => (
            <>
              <b>{email}</b> {id === me.id ? <span className="dim">you</span> : null}
            </>
          ),
        },
        { title: 'Role', width: '100px', cell: ({ role }) => role },
        { title: 'State', width: '120px', cell: ({ active }) => (active ? <span className="dim">active</span> : <b>switched off</b>) },
        { title: 'Member since', width: '110px', className: 'dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
        ...(onChange === undefined
          ? []
          : [
              {
                title: 'Actions',
                width: '90px',
                className: 'row-acts',
                cell: (member: Member) => (
                  <button type="button" className="btn quiet sm" onClick={() => onChange(member)}>
                    Change<span className="sr"> {member.email}</span>
                  </button>
                ),
              },
            ]),
      ]}
      empty={<Empty title="Nobody is in this team.">People who accept an invitation are listed here.</Empty>}
    />
  );
}
