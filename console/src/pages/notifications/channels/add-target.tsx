import { useState } from 'react';
import type { NotificationTarget } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField, TextField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { CHANNELS } from '../directory.ts';
import { CHANNEL_FORMS, addressOf, isComplete } from './address-fields.ts';
import type { TargetChannel, TypedAddress } from './address-fields.ts';
import { Unconfigured } from '../unconfigured.tsx';
import { AddressInputs, addressFieldNames } from './address-inputs.tsx';
import { words } from './words.ts';

/** A new channel: what kind it is, what to paste; then its proof. */
export function AddTarget({ onClose, onAdded }: { onClose: () => void; onAdded: (target: NotificationTarget) => void }) {
  const [channel, setChannel] = useState<TargetChannel>('slack');
  const [name, setName] = useState('');
  const [typed, setTyped] = useState<TypedAddress>({});
  const write = useWrite('createNotificationTarget', [CHANNELS]);
  return (
    <Dialog title={words.new.title} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ body: { name: name.trim(), channel, address: addressOf(channel, typed) } })}
        action={words.new.act}
        fields={['name', ...addressFieldNames(channel)]}
        isReady={name.trim() !== '' && isComplete(channel, typed)}
        onCancel={onClose}
        onDone={({ data }) => onAdded(data)}
      >
        <SelectField
          label={words.new.kind}
          name="channel"
          value={channel}
          onChange={(kind) => {
            setChannel(kind);
            write.reset();
          }}
          options={CHANNEL_FORMS.map((form) => ({ value: form.channel, name: form.name }))}
          state={write.state}
        />
        <Unconfigured channel={channel} />
        <AddressInputs channel={channel} typed={typed} onChange={setTyped} state={write.state} />
        <TextField
          label={words.new.name}
          name="name"
          hint={words.new.nameHint}
          value={name}
          onChange={setName}
          state={write.state}
          input={{ autoComplete: 'off' }}
        />
      </WriteForm>
    </Dialog>
  );
}
