import { useState } from 'react';
import type { Contact } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Outcome } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { GROUPS } from '../directory.ts';
import { channelName, offWords } from '../words.ts';
import { words } from './words.ts';
import { useUnconfigured } from '../unconfigured.tsx';

/** First part of the keys of queries. */
export const CONTACTS = 'contacts';

/** Own decisions, which one press takes back; everything else needs a new proof. */
const OWN_DECISIONS = ['switched_off', 'unsubscribed'];

/** The person's addresses, each with what is sent there. */
export function Contacts({ onProve }: { onProve: (contact: Contact) => void }) {
  const { data, error } = useRecord(CONTACTS, 'listContacts', {});
  const [removing, setRemoving] = useState<Contact>();
  const write = useWrite('changeContact', [CONTACTS, GROUPS]);
  if (!data) return error ? <ReadingFailed error={error} what={words.contacts.what} /> : <Reading />;
  const list = {
    records: data,
    total: data.length,
    isTotalExact: true,
    isFirst: false,
    error: null,
    hasMore: false,
    readMore: () => undefined,
  };
  const turn = (contact: Contact, off: boolean) => void write.send({ path: { contact_id: contact.id }, body: { off } });
  return (
    <>
      <ShortTable<Contact>
        label={words.contacts.label}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          {
            title: words.contacts.address,
            width: 'minmax(160px, 1.2fr)',
            className: 'el',
            cell: ({ address }) => <b className="id">{address}</b>,
          },
          {
            title: words.contacts.kind,
            width: '180px',
            cell: ({ channel, is_account: isAccount }) => (
              <>
                {channelName(channel)}
                {isAccount ? <span className="dim">, {words.contacts.ofAccount}</span> : null}
              </>
            ),
          },
          { title: words.contacts.state, width: 'minmax(200px, 1.6fr)', cell: (contact) => <State contact={contact} /> },
          {
            title: words.contacts.actions,
            width: '210px',
            className: 'row-acts',
            cell: (contact) => <Actions contact={contact} onProve={onProve} onTurn={turn} onRemove={setRemoving} />,
          },
        ]}
        empty={words.contacts.empty}
      />
      <Outcome state={write.state} onLookAgain={() => void write.lookAgain()} />
      {removing === undefined ? null : (
        <Confirm
          title={words.remove.title(removing.address)}
          action={words.remove.act}
          operation="deleteContact"
          input={{ path: { contact_id: removing.id } }}
          stale={[CONTACTS, GROUPS]}
          onClose={() => setRemoving(undefined)}
        >
          <p>{words.remove.about}</p>
        </Confirm>
      )}
    </>
  );
}

function State({ contact: { verified_at: provedAt, off_reason: reason, channel } }: { contact: Contact }) {
  const unconfigured = useUnconfigured()(channel);
  if (provedAt !== null && reason === null)
    return (
      <span className="lamp">
        <WorkLamp work="done" />
        <span className="dim">{words.contacts.proved}</span>
      </span>
    );
  if (provedAt === null)
    return (
      <>
        <span className="lamp">
          <WorkLamp work="failed" />
          <b className="c-not">{words.contacts.notProved}</b>
        </span>{' '}
        <span className="dim">{unconfigured === undefined ? words.contacts.silent : words.contacts.cannotProve}</span>
      </>
    );
  const isOwn = OWN_DECISIONS.includes(reason!);
  return (
    <>
      <span className="lamp">
        <WorkLamp work={isOwn ? 'canceled' : 'failed'} />
        <b className={isOwn ? '' : 'c-not'}>{words.contacts.off}</b>
      </span>{' '}
      <span className="dim">
        {reason === 'switched_off' ? words.contacts.byYou : `${offWords(reason!)}.${isOwn ? '' : ` ${words.contacts.proveAgain}`}`}
      </span>
    </>
  );
}

interface ActionsProps {
  contact: Contact;
  onProve: (contact: Contact) => void;
  onTurn: (contact: Contact, off: boolean) => void;
  onRemove: (contact: Contact) => void;
}

function Actions({ contact, onProve, onTurn, onRemove }: ActionsProps) {
  const { verified_at: provedAt, off_reason: reason, is_account: isAccount, channel } = contact;
  const isOwn = reason !== null && OWN_DECISIONS.includes(reason);
  const act = (name: string, run: () => void) => (
    <button type="button" className="btn quiet sm" onClick={run}>
      {name}
      <span className="sr"> {contact.address}</span>
    </button>
  );
  const unconfigured = useUnconfigured();
  // A browser proves itself when it subscribes. A note of the page says what the operator has to set for the others.
  const isReached = channel !== 'web_push' && unconfigured(channel) === undefined;
  const canProve = isReached && (provedAt === null || (reason !== null && !isOwn));
  return (
    <>
      {canProve ? act(words.act.prove, () => onProve(contact)) : null}
      {provedAt !== null && reason === null ? act(words.act.off, () => onTurn(contact, true)) : null}
      {provedAt !== null && isOwn ? act(words.act.on, () => onTurn(contact, false)) : null}
      {isAccount ? null : act(words.act.remove, () => onRemove(contact))}
    </>
  );
}
