import { useTyped } from './use-typed.ts';
import { words } from './words.ts';

interface Props {
  /** What the address has. */
  value: string;
  /** Writes it to the address, when nobody has typed for a moment. */
  onChange: (value: string) => void;
  placeholder: string;
  /** The fields that the filter knows. */
  hint?: string;
  /** What it cannot read, in a sentence. */
  wrong?: string | undefined;
  /** How many match, of how many; null where nobody counts. */
  count: React.ReactNode;
  /** Controls beside it, such as an order. */
  children?: React.ReactNode;
}

/** The filter above a list. Its text is in the address. */
export function FilterBox({ value, onChange, placeholder, hint, wrong, count, children }: Props) {
  const [text, setText] = useTyped(value, onChange);
  return (
    <>
      <div className="filter">
        <label className="fbox">
          <span className="sr">{words.filter}</span>
          <input
            type="search"
            value={text}
            placeholder={placeholder}
            spellCheck={false}
            aria-invalid={wrong !== undefined}
            aria-describedby="filter-wrong"
            onChange={(event) => setText(event.target.value)}
          />
          {hint === undefined ? null : <span className="t2 faint m-no">{hint}</span>}
        </label>
        {children}
        {count === null ? null : (
          <span className="count" role="status">
            {count}
          </span>
        )}
      </div>
      <p id="filter-wrong" className={wrong === undefined ? 'sr' : 'hint c-not filter-wrong'}>
        {wrong}
      </p>
    </>
  );
}
