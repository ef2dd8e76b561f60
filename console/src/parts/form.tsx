import { useId } from 'react';
import type { WriteState } from '../data/use-write.ts';
import { sentenceCase } from './sentence-case.ts';
import { words } from './words.ts';

interface FieldProps {
  label: string;
  /** Name of the field in the request: reasons of the server are shown beside it. */
  name: string;
  hint?: React.ReactNode;
  state?: WriteState;
  /** Given the ids that tie the control to its label and its error. */
  children: (control: { id: string; name: string; 'aria-describedby': string; 'aria-invalid': boolean }) => React.ReactNode;
}

/** A labelled control, with the server's reason under it when it was refused. */
export function Field({ label, name, hint, state, children }: FieldProps) {
  const id = useId();
  const reasons = state?.kind === 'refused' ? (state.errors[name] ?? []) : [];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, name, 'aria-describedby': `${id}-hint`, 'aria-invalid': reasons.length > 0 })}
      <p id={`${id}-hint`} className={reasons.length > 0 ? 'hint c-not' : 'hint'}>
        {reasons.length > 0 ? reasons.join('. ') : hint}
      </p>
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onChange: (value: string) => void;
  /** A text of several lines, in the typeface of routers. */
  rows?: number;
  input?: React.ComponentProps<'input'>;
}

export function TextField({ value, onChange, rows, input, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      {(control) =>
        rows === undefined ? (
          <input type="text" {...input} {...control} className="control" value={value} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <textarea
            {...control}
            className="control mono"
            rows={rows}
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

interface SelectFieldProps<T extends string> extends Omit<FieldProps, 'children'> {
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; name: string }[];
}

export function SelectField<T extends string>({ value, onChange, options, ...field }: SelectFieldProps<T>) {
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} className="control" value={value} onChange={(event) => onChange(event.target.value as T)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckFieldProps {
  label: React.ReactNode;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <p className="check">
      <input id={id} type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      <label htmlFor={id}>{label}</label>
    </p>
  );
}

interface OutcomeProps {
  state: WriteState;
  onLookAgain: () => void;
  /** Fields that show their own reasons. */
  fields?: readonly string[];
}

/** What became of a write, where it is not told beside a field. */
export function Outcome({ state, onLookAgain, fields = [] }: OutcomeProps) {
  if (state.kind === 'maybe_done') {
    return (
      <p className="outcome" role="alert">
        <b>{words.outcome.maybeDone}</b> {words.outcome.lost}{' '}
        <button type="button" className="btn quiet sm" onClick={onLookAgain}>
          {words.outcome.lookAgain}
        </button>
      </p>
    );
  }
  if (state.kind !== 'refused') return null;
  const names = Object.keys(state.errors);
  // The message names every refused field with its reason: beside the fields that show theirs it would say the same twice.
  const isSaid = names.length > 0 && names.every((name) => fields.includes(name));
  return (
    <p className="outcome c-not" role="alert">
      {isSaid ? words.outcome.marked : sentenceCase(state.message).replace(/[^.!?]$/, '$&.')}
    </p>
  );
}
