import { useState } from 'react';
import type { Contact, NewTelegramLink } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS } from '../directory.ts';
import { CONTACTS } from './contacts.tsx';
import { Unconfigured } from '../unconfigured.tsx';
import { TelegramProof } from './telegram-proof.tsx';
import { words } from './words.ts';

const KINDS = [
  { value: 'email', ...words.kind.email },
  { value: 'sms', ...words.kind.sms },
  { value: 'whatsapp', ...words.kind.whatsapp },
  { value: 'telegram', ...words.kind.telegram },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** A new address of the person; then its proof. Nobody knows the number of their chat in Telegram: a link proves it. */
export function AddContact({ onClose, onAdded }: { onClose: () => void; onAdded: (contact: Contact) => void }) {
  const [kind, setKind] = useState<Kind>('email');
  const [address, setAddress] = useState('');
  const [link, setLink] = useState<NewTelegramLink>();
  const write = useWrite('createContact', [CONTACTS, GROUPS]);
  const chosen = KINDS.find(({ value }) => value === kind)!;
  return (
    <Dialog title={words.new.title} isForAll onClose={onClose}>
      {link === undefined ? (
        <SelectField
          label={words.new.kind}
          name="channel"
          value={kind}
          onChange={(value) => {
            setKind(value);
            write.reset();
          }}
          options={KINDS}
          hint={words.new.kindHint}
          state={write.state}
        />
      ) : null}
      <Unconfigured channel={kind} />
      {chosen.value === 'telegram' ? (
        <TelegramProof link={link} onLink={setLink} onClose={onClose} />
      ) : (
        <WriteForm
          write={write}
          input={() => ({ body: { channel: kind, address: address.trim() } })}
          action={words.new.act}
          fields={['channel', 'address']}
          isReady={address.trim() !== ''}
          onCancel={onClose}
          onDone={({ data }) => onAdded(data)}
        >
          <TextField
            label={chosen.label}
            name="address"
            hint={chosen.hint}
            value={address}
            onChange={setAddress}
            state={write.state}
            input={{ autoComplete: 'off' }}
          />
        </WriteForm>
      )}
    </Dialog>
  );
}
