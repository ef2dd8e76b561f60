import type { Contact } from '../../../../../client/browser.ts';
import { Prove } from '../channels/prove.tsx';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';

/** Proves an own address: by a link in a mail, otherwise by digits. */
export function ProveContact({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const path = { contact_id: contact.id };
  const isMail = contact.channel === 'email';
  return (
    <Prove
      title={`Prove ${contact.address}`}
      send={{ operation: 'sendContactCode', input: { path } }}
      verify={{ operation: 'verifyContact', inputOf: (code) => ({ path, body: { code } }) }}
      stale={[CONTACTS, GROUPS]}
      by={isMail ? 'link' : 'digits'}
      onClose={onClose}
    >
      {isMail
        ? `A mail with a link is sent to ${contact.address}. The button behind the link proves the address; until then nothing else is sent there.`
        : `A message with six digits is sent to ${contact.address}. Type them in here; until then nothing else is sent there.`}
    </Prove>
  );
}
