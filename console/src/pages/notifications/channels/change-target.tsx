import { useState } from 'react';
import type { NotificationTarget } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { changedFields } from '../../../parts/changed.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { GROUPS, CHANNELS } from '../directory.ts';
import { addressOf, isComplete } from './address-fields.ts';
import type { TypedAddress } from './address-fields.ts';
import { AddressInputs, addressFieldNames } from './address-inputs.tsx';
import { words } from './words.ts';

interface Props {
  target: NotificationTarget;
  onClose: () => void;
  /** It has a new address, which must be proved. */
  onMoved: (target: NotificationTarget) => void;
}

export function ChangeTarget({ target, onClose, onMoved }: Props) {
  const [name, setName] = useState(target.name);
  const [first] = useState({ name });
  const [isMoved, setMoved] = useState(false);
  const [typed, setTyped] = useState<TypedAddress>({});
  const write = useWrite('changeNotificationTarget', [CHANNELS, GROUPS]);
  return (
    <Dialog title={words.change.title(target.name)} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({
          path: { target_id: target.id },
          body: { ...changedFields(first, { name: name.trim() }), ...(isMoved ? { address: addressOf(target.channel, typed) } : {}) },
        })}
        action={words.change.act}
        fields={['name', ...addressFieldNames(target.channel)]}
        isReady={name.trim() !== '' && (!isMoved || isComplete(target.channel, typed))}
        onCancel={onClose}
        onDone={({ data }) => (isMoved ? onMoved(data) : onClose())}
      >
        <TextField
          label={words.change.name}
          name="name"
          value={name}
          onChange={setName}
          state={write.state}
          input={{ autoComplete: 'off' }}
        />
        <CheckField label={words.change.address} isChecked={isMoved} onChange={(isOn) => setMoved(isOn)} />
        {isMoved ? <AddressInputs channel={target.channel} typed={typed} onChange={setTyped} state={write.state} /> : null}
      </WriteForm>
    </Dialog>
  );
}
