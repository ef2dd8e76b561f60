import { SelectField, TextField } from '../../../parts/form.tsx';
import { numberOf } from '../../../parts/number-of.ts';
import type { PartProps } from './part-props.ts';
import { words } from './words.ts';

/** Who is told when nobody takes it over. */
export function EscalationFields({ group, names, draft, onChange, state }: PartProps) {
  const { escalate_to: to = group.escalate_to, escalate_after_minutes: minutes = group.escalate_after_minutes } = draft;
  const others = [...names.groups.values()].filter(({ id }) => id !== group.id);
  return (
    <>
      <SelectField
        label={words.escalate.to}
        name="escalate_to"
        value={to ?? ''}
        onChange={(id) =>
          onChange(
            id === '' ? { escalate_to: null, escalate_after_minutes: null } : { escalate_to: id, escalate_after_minutes: minutes ?? 15 },
          )
        }
        options={[{ value: '', name: words.escalate.nobody }, ...others.map(({ id, name }) => ({ value: id, name }))]}
        hint={others.length === 0 ? words.escalate.noGroup : words.escalate.hint}
        state={state}
      />
      {to === null ? null : (
        <TextField
          label={words.escalate.after}
          name="escalate_after_minutes"
          hint={words.escalate.afterHint}
          value={minutes === null ? '' : String(minutes)}
          onChange={(text) => onChange({ escalate_to: to, escalate_after_minutes: numberOf(text) })}
          input={{ inputMode: 'numeric', required: true }}
          state={state}
        />
      )}
    </>
  );
}
