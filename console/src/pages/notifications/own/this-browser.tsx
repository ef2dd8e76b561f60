import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Outcome } from '../../../parts/form.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { canSubscribe, keepContact, subscribe, thisBrowser, unsubscribe } from '../../../push/subscription.ts';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';
import { words } from './words.ts';

/** Whether this browser shows notifications, also while no page of the application is open. */
export function ThisBrowser() {
  const queries = useQueryClient();
  const { data: key, error } = useRecord('push-key', 'getPushKey', {});
  const { data: contacts, error: contactsError } = useRecord(CONTACTS, 'listContacts', {});
  const { data: own } = useQuery({ queryKey: [CONTACTS, 'this browser'], queryFn: () => (canSubscribe() ? thisBrowser() : null) });
  const [refused, setRefused] = useState('');
  const [isBusy, setBusy] = useState(false);
  const create = useWrite('createContact', [CONTACTS, GROUPS]);
  const remove = useWrite('deleteContact', [CONTACTS, GROUPS]);
  const contact = contacts?.find(({ id }) => id === own);
  if (!canSubscribe()) return <p className="empty">{words.browser.cannot}</p>;
  const failed = contactsError ?? error;
  // Nobody needs the key to switch them off.
  if (!contacts || (!key && !contact)) return failed ? <ReadingFailed error={failed} what={words.browser.what} /> : <Reading />;

  async function turn(work: () => Promise<void>): Promise<void> {
    setRefused('');
    setBusy(true);
    try {
      await work();
    } catch (reason) {
      setRefused(reason instanceof Error ? reason.message : String(reason));
    } finally {
      setBusy(false);
      await queries.invalidateQueries({ queryKey: [CONTACTS] });
    }
  }
  async function turnOn(publicKey: string): Promise<void> {
    const subscription = await subscribe(publicKey);
    const made = await create.send({ body: { channel: 'web_push', subscription } });
    if (made) keepContact(made.data.id);
  }
  async function turnOff(id: string): Promise<void> {
    if (await remove.send({ path: { contact_id: id } })) await unsubscribe();
  }
  return (
    <>
      <p className="prose-block">
        {contact === undefined ? words.browser.off : words.browser.on}{' '}
        {contact === undefined ? (
          <button type="button" className="btn" disabled={isBusy} onClick={() => void turn(() => turnOn(key!.public_key))}>
            {words.browser.turnOn}
          </button>
        ) : (
          <button type="button" className="btn" disabled={isBusy} onClick={() => void turn(() => turnOff(contact.id))}>
            {words.browser.turnOff}
          </button>
        )}
      </p>
      <p className={refused === '' ? 'hint' : 'hint c-not'} role="status">
        {refused}
      </p>
      <Outcome state={create.state} onLookAgain={() => void create.lookAgain()} />
      <Outcome state={remove.state} onLookAgain={() => void remove.lookAgain()} />
    </>
  );
}
