import { SelectField, TextField } from '../../../parts/form.tsx';
import type { WriteState } from '../../../data/use-write.ts';
import { formOf } from './address-fields.ts';
import type { TargetChannel, TypedAddress } from './address-fields.ts';
import { words } from './words.ts';

interface Props {
  channel: TargetChannel;
  typed: TypedAddress;
  onChange: (typed: TypedAddress) => void;
  state: WriteState;
}

/** The steps at the other side, and what is pasted here. */
export function AddressInputs({ channel, typed, onChange, state }: Props) {
  const { steps, fields } = formOf(channel);
  return (
    <>
      <p className="prose">{steps}</p>
      {fields.map(({ name, label, hint, isOptional, options }) =>
        options ? (
          <SelectField
            key={name}
            label={label}
            name={`address.${name}`}
            value={typed[name] ?? options[0]!.value}
            onChange={(value) => onChange({ ...typed, [name]: value })}
            options={options}
            hint={hint}
            state={state}
          />
        ) : (
          <TextField
            key={name}
            label={isOptional ? words.optional(label) : label}
            name={`address.${name}`}
            value={typed[name] ?? ''}
            onChange={(value) => onChange({ ...typed, [name]: value })}
            hint={hint}
            state={state}
            input={{ autoComplete: 'off', spellCheck: false }}
          />
        ),
      )}
    </>
  );
}

/** Names of the fields as the server reports them. */
export function addressFieldNames(channel: TargetChannel): string[] {
  return formOf(channel).fields.map(({ name }) => `address.${name}`);
}
