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

/** First part of the keys of queries. */
export const CONTACTS = 'contacts';

/** Own decisions, which one press takes back; everything else needs a new proof. */
const OWN_DECISIONS = ['switched_off', 'unsubscribed'];

/** The person's addresses, each with what is sent there. */
export function Contacts({ onProve }: { onProve: (contact: Contact) => void }) {
  const { data, error } = useRecord(CONTACTS, 'listContacts', {});
  const [removing, setRemoving] = useState<Contact>();
  const write = useWrite('changeContact', [CONTACTS, GROUPS]);
  if (!data) return error ? <ReadingFailed error={error} what="Your addresses" /> : <Reading />;
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
        label="Addresses"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Address', width: 'minmax(160px, 1.2fr)', className: 'el', cell: ({ address }) => <b className="id">{address}</b> },
          {
            title: 'Kind',
            width: '180px',
            cell: ({ channel, is_account: isAccount }) => (
              <>
                {channelName(channel)}
                {isAccount ? <span className="dim">, of your account</span> : null}
              </>
            ),
          },
          { title: 'State', width: 'minmax(200px, 1.6fr)', cell: (contact) => <State contact={contact} /> },
          {
            title: 'Actions',
            width: '210px',
            className: 'row-acts',
            cell: (contact) => <Actions contact={contact} onProve={onProve} onTurn={turn} onRemove={setRemoving} />,
          },
        ]}
        empty="You have no address."
      />
      <Outcome state={write.state} onLookAgain={() => void write.lookAgain()} />
      {removing === undefined ? null : (
        <Confirm
          title={`Remove ${removing.address}?`}
          action="Remove the address"
          operation="deleteContact"
          input={{ path: { contact_id: removing.id } }}
          stale={[CONTACTS, GROUPS]}
          onClose={() => setRemoving(undefined)}
        >
          <p>Nothing is sent there any more. To use it again, you add and prove it again.</p>
        </Confirm>
      )}
    </>
  );
}

function State({ contact: { verified_at: provedAt, off_reason: reason } }: { contact: Contact }) {
  if (provedAt !== null && reason === null)
    return (
      <span className="lamp">
        <WorkLamp work="done" />
        <span className="dim">proved</span>
      </span>
    );
  if (provedAt === null)
    return (
      <>
        <span className="lamp">
          <WorkLamp work="failed" />
          <b className="c-not">not proved</b>
        </span>{' '}
        <span className="dim">Nothing is sent there.</span>
      </>
    );
  const isOwn = OWN_DECISIONS.includes(reason!);
  return (
    <>
      <span className="lamp">
        <WorkLamp work={isOwn ? 'canceled' : 'failed'} />
        <b className={isOwn ? '' : 'c-not'}>switched off</b>
      </span>{' '}
      <span className="dim">{reason === 'switched_off' ? 'by you' : `${offWords(reason!)}.${isOwn ? '' : ' Prove it again.'}`}</span>
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
  // A browser proves itself when it subscribes.
  const canProve = (provedAt === null || (reason !== null && !isOwn)) && channel !== 'web_push';
  return (
    <>
      {canProve ? act('Prove', () => onProve(contact)) : null}
      {provedAt !== null && reason === null ? act('Switch off', () => onTurn(contact, true)) : null}
      {provedAt !== null && isOwn ? act('Switch on', () => onTurn(contact, false)) : null}
      {isAccount ? null : act('Remove', () => onRemove(contact))}
    </>
  );
}
