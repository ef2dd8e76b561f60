import { useState } from 'react';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import type { Role } from '../../../session/roles.ts';
import { ROLE_OPTIONS } from '../roles.ts';
import type { PersonalLink } from './types.ts';
import { words } from './words.ts';

export function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (link: PersonalLink) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const write = useWrite('inviteMember', ['members', 'invitations']);
  return (
    <Dialog title={words.dialog.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { email: email.trim(), role } })}
        action={words.dialog.act}
        fields={['email', 'role']}
        isReady={email.trim() !== ''}
        onCancel={onClose}
        onDone={({ data }) => {
          onInvited({ kind: 'invitation', email: data.email, url: data.invitation.url, expiresAt: data.invitation.expires_at });
          onClose();
        }}
      >
        <TextField
          label={words.dialog.email}
          name="email"
          hint={words.dialog.emailHint}
          value={email}
          onChange={setEmail}
          state={write.state}
          input={{ type: 'email', autoComplete: 'off' }}
        />
        <SelectField label={words.dialog.role} name="role" value={role} onChange={setRole} options={ROLE_OPTIONS} state={write.state} />
      </WriteForm>
    </Dialog>
  );
}
