import { useState } from 'react';
import type { Contact } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';

const KINDS = [
  { value: 'email', name: 'email', label: 'Email address', hint: 'It goes before that of your account.' },
  { value: 'sms', name: 'text message', label: 'Telephone number', hint: 'With the country: +34 600 123 456' },
  { value: 'whatsapp', name: 'WhatsApp', label: 'Telephone number', hint: 'With the country: +34 600 123 456' },
  { value: 'telegram', name: 'Telegram', label: 'Number of your chat with the bot', hint: 'Write to the bot of this control plane first.' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** A new address of the person; then its proof. */
export function AddContact({ onClose, onAdded }: { onClose: () => void; onAdded: (contact: Contact) => void }) {
  const [kind, setKind] = useState<Kind>('email');
  const [address, setAddress] = useState('');
  const write = useWrite('createContact', [CONTACTS, GROUPS]);
  const { label, hint } = KINDS.find(({ value }) => value === kind)!;
  return (
    <Dialog title="Add an address" isForAll onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { channel: kind, address: address.trim() } })}
        action="Add and prove it"
        fields={['channel', 'address']}
        isReady={address.trim() !== ''}
        onCancel={onClose}
        onDone={({ data }) => onAdded(data)}
      >
        <SelectField
          label="Kind"
          name="channel"
          value={kind}
          onChange={(value) => {
            setKind(value);
            write.reset();
          }}
          options={KINDS}
          hint="One address of each kind."
          state={write.state}
        />
        <TextField
          label={label}
          name="address"
          hint={hint}
          value={address}
          onChange={setAddress}
          state={write.state}
          input={{ autoComplete: 'off' }}
        />
      </WriteForm>
    </Dialog>
  );
}
