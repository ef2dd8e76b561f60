import type { WriteState } from '../../../data/use-write.ts';
import { CheckField, SelectField, TextField } from '../../../parts/form.tsx';
import { CLOCK_TEXT } from '../clock-text.ts';
import { KindsField } from '../topics/kinds-field.tsx';
import { EVERYTHING, eventsWords } from '../topics/kinds.ts';
import { words } from './words.ts';

const DIGESTS = [
  { value: 'none', name: words.digest.none },
  { value: 'hourly', name: words.digest.hourly },
  { value: 'daily', name: words.digest.daily },
] as const;

export interface DigestDraft {
  digest: (typeof DIGESTS)[number]['value'];
  digestAt: string;
  kinds: readonly string[];
}

export const CLOCK = { ...CLOCK_TEXT, required: true } as const;

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
        label={words.digest.label}
        name="digest"
        value={draft.digest}
        onChange={(digest) => onChange({ digest })}
        options={DIGESTS}
        hint={words.digest.hint}
        state={state}
      />
      {draft.digest === 'daily' ? (
        <TextField
          label={words.digest.at}
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
      <summary>{words.digest.more(eventsWords(kinds))}</summary>
      <p className="hint">{words.digest.moreHint}</p>
      <CheckField
        label={words.digest.everything}
        isChecked={kinds.includes(EVERYTHING)}
        onChange={(isOn) => onChange(isOn ? [EVERYTHING] : [])}
      />
      {kinds.includes(EVERYTHING) ? null : <KindsField events={kinds} onChange={onChange} />}
    </details>
  );
}
