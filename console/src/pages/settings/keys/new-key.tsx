import { useState } from 'react';
import type { NewlyMadeApiKey } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import type { Role } from '../../../session/roles.ts';
import { ROLE_OPTIONS } from '../roles.ts';
import { LIFETIMES, expiryOf } from '../words.ts';
import type { Lifetime } from '../words.ts';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

export function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: NewlyMadeApiKey) => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [lifetime, setLifetime] = useState<Lifetime>('never');
  const write = useWrite('createApiKey', ['api-keys']);
  const input = () => {
    const expiry = expiryOf(lifetime, serverNow());
    return { body: { name, role, ...(expiry === undefined ? {} : { expires_at: expiry }) } };
  };
  return (
    <Dialog title={words.new.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={input}
        action={words.new.act}
        fields={['name', 'role', 'expires_at']}
        isReady={name.trim() !== ''}
        onCancel={onClose}
        onDone={({ data }) => {
          onMade(data);
          onClose();
        }}
      >
        <TextField
          label={words.new.name}
          name="name"
          hint={words.new.nameHint}
          value={name}
          onChange={setName}
          state={write.state}
          input={{ autoComplete: 'off', 'data-autofocus': true } as React.ComponentProps<'input'>}
        />
        <SelectField label={words.new.role} name="role" value={role} onChange={setRole} options={ROLE_OPTIONS} state={write.state} />
        <SelectField
          label={words.new.works}
          name="expires_at"
          value={lifetime}
          onChange={setLifetime}
          options={LIFETIMES}
          hint={words.new.worksHint}
          state={write.state}
        />
      </WriteForm>
    </Dialog>
  );
}
