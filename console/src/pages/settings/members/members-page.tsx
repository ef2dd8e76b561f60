import { useState } from 'react';
import type { Member } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import type { RecordList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { isLoopback } from '../../../parts/loopback.ts';
import { Moment } from '../../../parts/moment.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useMay } from '../../../session/use-may.ts';
import { WhatEnded } from '../revocations/what-ended.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { ChangeMember } from './change-member.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import type { Ended, PersonalLink } from './types.ts';
import { isOnlyAdmin, useMembers } from './use-members.ts';
import { words } from './words.ts';

/** Who is in the team, who was invited, and what each may do. */
export function MembersPage() {
  const isAdmin = useMay('admin');
  const [isInviting, setInviting] = useState(false);
  const [changed, setChanged] = useState<Member>();
  const [link, setLink] = useState<PersonalLink>();
  const [ended, setEnded] = useState<Ended>();
  const members = useMembers();
  return (
    <SettingsPage
      name={settingsWords.part.members}
      note={isAdmin ? words.note.admin : words.note.others}
      actions={
        isAdmin ? (
          <button type="button" className="btn main-act" onClick={() => setInviting(true)}>
            {words.invite}
          </button>
        ) : undefined
      }
    >
      {link === undefined ? null : <LinkShownOnce link={link} onDone={() => setLink(undefined)} />}
      {ended === undefined ? null : <WhatEnded {...ended} />}
      <Members list={members} onChange={isAdmin ? setChanged : undefined} />
      {isAdmin ? <Invitations members={members} /> : null}
      {isInviting ? <Invite onClose={() => setInviting(false)} onInvited={setLink} /> : null}
      {changed === undefined ? null : (
        <ChangeMember
          member={changed}
          isLast={isOnlyAdmin(changed, members)}
          onClose={() => setChanged(undefined)}
          onLink={setLink}
          onEnded={setEnded}
        />
      )}
    </SettingsPage>
  );
}

function LinkShownOnce({ link: { kind, email, url, expiresAt }, onDone }: { link: PersonalLink; onDone: () => void }) {
  const isInvitation = kind === 'invitation';
  return (
    <ShownOnce
      title={isInvitation ? words.once.invitation(email) : words.once.password(email)}
      text={url}
      label={words.once.label}
      onDone={onDone}
    >
      {fill(words.once.text, { email, time: <Moment at={expiresAt} /> })}{' '}
      {isInvitation ? words.once.lostInvitation : words.once.lostPassword}
      {isLoopback(new URL(url).hostname) ? ` ${words.once.loopback}` : null}
    </ShownOnce>
  );
}

/** @param onChange given to those who may change members */
function Members({ list, onChange }: { list: RecordList<Member>; onChange: ((member: Member) => void) | undefined }) {
  const { me } = useFleet();
  return (
    <ShortTable<Member>
      label={words.table.label}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.table.person,
          width: 'minmax(160px, 2fr)',
          className: 'el',
          cell: ({ id, email }) => (
            <>
              <b>{email}</b> {id === me.id ? <span className="dim">{words.table.you}</span> : null}
            </>
          ),
        },
        { title: words.table.role, width: '100px', cell: ({ role }) => role },
        {
          title: words.table.state,
          width: '120px',
          cell: ({ active }) => (active ? <span className="dim">{words.table.active}</span> : <b>{words.table.off}</b>),
        },
        { title: words.table.since, width: '110px', className: 'dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
        ...(onChange === undefined
          ? []
          : [
              {
                title: words.table.actions,
                width: '90px',
                className: 'row-acts',
                cell: (member: Member) => (
                  <button type="button" className="btn quiet sm" onClick={() => onChange(member)}>
                    {words.table.change}
                    <span className="sr"> {member.email}</span>
                  </button>
                ),
              },
            ]),
      ]}
      empty={<Empty title={words.table.empty}>{words.table.emptyText}</Empty>}
    />
  );
}
