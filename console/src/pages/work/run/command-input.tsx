import { useId, useState } from 'react';
import { completionsOf } from './command-line.ts';
import { COMMANDS } from './menus.ts';
import { words } from './words.ts';

interface Props {
  value: string;
  onChange: (value: string) => void;
  /** Newest first. */
  history: readonly string[];
  box: React.RefObject<HTMLInputElement | null>;
}

/**
 * The box for a command. Tab takes the first completion; with the list open, up and down choose from it; with an empty or untouched box they
 * go through the history. Escape closes the list, and so does sending.
 */
export function CommandInput({ value, onChange, history, box }: Props) {
  const id = useId();
  const { options, chosen, type, take, close, onKeyDown } = useCompletion({ value, onChange, history });
  return (
    <div className="command-box">
      <label htmlFor={id} className="sr">
        {words.command.command}
      </label>
      <input
        id={id}
        ref={box}
        className="control mono"
        type="text"
        role="combobox"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-autocomplete="list"
        aria-expanded={options.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen >= 0 && chosen < options.length ? `${id}-${chosen}` : undefined}
        placeholder={words.command.example}
        value={value}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={words.command.commands} className="completions" hidden={options.length === 0}>
        {options.map((option, index) => (
          // The box keeps the focus and handles the keys.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={option}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="mono"
            onMouseDown={(event) => event.preventDefault()}
            // Not at the press: the list would be gone at the end of a tap, and the tap would press the button below it.
            onClick={() => take(option)}
          >
            {option}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Completion {
  options: readonly string[];
  /** Place of the chosen option; -1 is none. */
  chosen: number;
  type: (text: string) => void;
  take: (text: string) => void;
  close: () => void;
  onKeyDown: (event: React.KeyboardEvent<HTMLInputElement>) => void;
}

function useCompletion({ value, onChange, history }: Omit<Props, 'box'>): Completion {
  const [isOpen, setOpen] = useState(false);
  /** Chosen in the list; -1 is what was typed. */
  const [chosen, setChosen] = useState(-1);
  /** Place in the history; -1 is what was typed. */
  const [past, setPast] = useState(-1);
  const options = isOpen ? completionsOf(value, COMMANDS, history) : [];

  function type(text: string): void {
    onChange(text);
    setOpen(true);
    setChosen(-1);
    setPast(-1);
  }

  function take(text: string): void {
    onChange(text.endsWith('/print') ? text : `${text} `);
    setOpen(false);
    setChosen(-1);
  }

  function back(step: 1 | -1): void {
    const next = Math.min(history.length - 1, Math.max(-1, past + step));
    setPast(next);
    setOpen(false);
    if (next >= 0) onChange(history[next]!);
    else if (past >= 0) onChange('');
  }

  function close(): void {
    setOpen(false);
    setChosen(-1);
  }

  function onKeyDown(event: React.KeyboardEvent<HTMLInputElement>): void {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      const step = key === 'ArrowDown' ? 1 : -1;
      if (options.length === 0) back(step === 1 ? -1 : 1);
      else setChosen(((chosen + 1 + step + options.length + 1) % (options.length + 1)) - 1);
    } else if (key === 'Tab' && !event.shiftKey && options.length > 0) {
      event.preventDefault();
      take(options[Math.max(0, chosen)]!);
    } else if (key === 'Enter' && chosen >= 0 && options[chosen] !== undefined) {
      event.preventDefault();
      take(options[chosen]);
      // Enter sends the command: an open list would cover its answer.
    } else if (key === 'Escape' || key === 'Enter') close();
  }

  return { options, chosen, type, take, close, onKeyDown };
}
