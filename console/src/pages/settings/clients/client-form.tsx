import { useState } from 'react';
import type { Client, ClientChange, ClientWithSecret, NewClient } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedOfNewest } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import type { Role } from '../../../session/roles.ts';
import { ROLE_OPTIONS } from '../roles.ts';
import { words } from './words.ts';

const KINDS: readonly { value: NewClient['kind']; name: string }[] = [
  { value: 'web', name: words.kind.web },
  { value: 'browser', name: words.kind.browser },
  { value: 'native', name: words.kind.native },
  { value: 'implicit', name: words.kind.implicit },
];

interface Props {
  /** The one that is changed; a new one otherwise. */
  client?: Client;
  onClose: () => void;
  onMade: (client: ClientWithSecret) => void;
}

export function ClientForm({ client, onClose, onMade }: Props) {
  const { api } = useFleet();
  const [name, setName] = useState(client?.name ?? '');
  const [kind, setKind] = useState<NewClient['kind']>(client?.kind ?? 'web');
  const [role, setRole] = useState<Role>(client?.role ?? 'viewer');
  const [uris, setUris] = useState((client?.redirect_uris ?? []).join('\n'));
  const create = useWrite('createClient', ['clients']);
  const change = useWrite('changeClient', ['clients', 'revocations']);
  const { state } = client ? change : create;
  const values = { name, role, redirect_uris: uris.split(/\s+/).filter((uri) => uri !== '') };
  const [first] = useState(values);
  const changeOf = async (path: { client_id: string }) => ({
    path,
    body: await changedOfNewest<ClientChange>(first, values, async () => (await api.call('getClient', { path })).data),
  });
  const shared = {
    action: client ? words.form.save : words.form.register,
    fields: ['name', 'kind', 'role', 'redirect_uris'],
    isReady: name.trim() !== '' && uris.trim() !== '',
    onCancel: onClose,
  };
  const inputs = (
    <>
      <TextField label={words.form.name} name="name" hint={words.form.nameHint} value={name} onChange={setName} state={state} />
      {client ? null : <SelectField label={words.form.kind} name="kind" value={kind} onChange={setKind} options={KINDS} state={state} />}
      <SelectField label={words.form.role} name="role" value={role} onChange={setRole} options={ROLE_OPTIONS} state={state} />
      <TextField
        label={words.form.addresses}
        name="redirect_uris"
        hint={words.form.addressesHint}
        rows={3}
        value={uris}
        onChange={setUris}
        state={state}
      />
    </>
  );
  return (
    <Dialog title={client ? words.form.change(client.name) : words.form.title} onClose={onClose}>
      {client ? (
        <WriteForm write={change} input={() => changeOf({ client_id: client.id })} onDone={onClose} {...shared}>
          {inputs}
        </WriteForm>
      ) : (
        <WriteForm
          write={create}
          input={() => ({ body: { ...values, kind } })}
          onDone={({ data }) => {
            onMade(data);
            onClose();
          }}
          {...shared}
        >
          {inputs}
        </WriteForm>
      )}
    </Dialog>
  );
}
