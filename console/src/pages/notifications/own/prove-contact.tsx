import type { Contact } from '../../../../../client/browser.ts';
import { Prove } from '../channels/prove.tsx';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';
import { words } from './words.ts';

/** Proves an own address: by a link in a mail, otherwise by digits. */
export function ProveContact({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const path = { contact_id: contact.id };
  const isMail = contact.channel === 'email';
  return (
    <Prove
      title={words.prove.title(contact.address)}
      send={{ operation: 'sendContactCode', input: { path } }}
      verify={{ operation: 'verifyContact', inputOf: (code) => ({ path, body: { code } }) }}
      stale={[CONTACTS, GROUPS]}
      by={isMail ? 'link' : 'digits'}
      onClose={onClose}
    >
      {isMail ? words.prove.byLink(contact.address) : words.prove.byDigits(contact.address)}
    </Prove>
  );
}
