import { useState } from 'react';
import type { ApiKey, NewlyMadeApiKey } from '../../../../../client/browser.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { SelectField } from '../../../parts/form.tsx';
import { WriteForm } from '../../../parts/write-form.tsx';
import { OVERLAPS } from '../words.ts';
import type { Overlap } from '../words.ts';
import { words } from './words.ts';

interface Props {
  apiKey: ApiKey;
  onClose: () => void;
  onMade: (key: NewlyMadeApiKey) => void;
}

export function RotateKey({ apiKey: { id, name }, onClose, onMade }: Props) {
  const [overlap, setOverlap] = useState<Overlap>('60');
  const write = useWrite('rotateApiKey', ['api-keys']);
  return (
    <Dialog title={words.rotate.title(name)} onClose={onClose}>
      <WriteForm
        write={write}
        input={() => ({ path: { key_id: id }, body: { overlap_minutes: Number(overlap) } })}
        action={words.rotate.act}
        fields={['overlap_minutes']}
        onCancel={onClose}
        onDone={({ data }) => {
          onMade(data);
          onClose();
        }}
      >
        <p className="prose">{words.rotate.about}</p>
        <SelectField
          label={words.rotate.overlap}
          name="overlap_minutes"
          value={overlap}
          onChange={setOverlap}
          options={OVERLAPS}
          hint={words.rotate.overlapHint}
          state={write.state}
        />
      </WriteForm>
    </Dialog>
  );
}
