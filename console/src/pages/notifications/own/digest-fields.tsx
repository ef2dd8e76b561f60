import type { WriteState } from '../../../data/use-write.ts';
import { CheckField, SelectField, TextField } from '../../../parts/form.tsx';
import { KindsField } from '../topics/kinds-field.tsx';
import { EVERYTHING, eventsWords } from '../topics/kinds.ts';

const DIGESTS = [
  { value: 'none', name: 'come at once' },
  { value: 'hourly', name: 'come together, each hour' },
  { value: 'daily', name: 'come together, once a day' },
] as const;

export interface DigestDraft {
  digest: (typeof DIGESTS)[number]['value'];
  digestAt: string;
  kinds: readonly string[];
}

/** A time of day. */
export const CLOCK = { type: 'time', required: true } as const;

interface DigestFieldsProps {
  draft: DigestDraft;
  onChange: (changed: Partial<DigestDraft>) => void;
  state: WriteState;
}

/** What the person reads together, and when. */
export function DigestFields({ draft, onChange, state }: DigestFieldsProps) {
  return (
    <>
      <SelectField
        label="News that can wait"
        name="digest"
        value={draft.digest}
        onChange={(digest) => onChange({ digest })}
        options={DIGESTS}
        hint="Reboots and the like. A digest also lists what was over before you were told."
        state={state}
      />
      {draft.digest === 'daily' ? (
        <TextField
          label="Every day at"
          name="digest_at"
          value={draft.digestAt}
          onChange={(digestAt) => onChange({ digestAt })}
          state={state}
          input={CLOCK}
        />
      ) : null}
      {draft.digest === 'none' ? null : <CanWait kinds={draft.kinds} onChange={(kinds) => onChange({ kinds })} />}
    </>
  );
}

interface CanWaitProps {
  kinds: readonly string[];
  onChange: (kinds: readonly string[]) => void;
}

/** Kinds that the person lets wait. Few people choose any, so the list is closed. */
function CanWait({ kinds, onChange }: CanWaitProps) {
  return (
    <details className="can-wait">
      <summary>Can wait as well: {eventsWords(kinds)}</summary>
      <p className="hint">What is critical comes at once, whatever you choose.</p>
      <CheckField
        label="Everything that can happen"
        isChecked={kinds.includes(EVERYTHING)}
        onChange={(isOn) => onChange(isOn ? [EVERYTHING] : [])}
      />
      {kinds.includes(EVERYTHING) ? null : <KindsField events={kinds} onChange={onChange} />}
    </details>
  );
}
