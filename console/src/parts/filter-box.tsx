interface Props {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  /** The fields that the filter knows. */
  hint: string;
  /** What it cannot read, in a sentence. */
  wrong?: string | undefined;
  /** How many match, of how many. */
  count: React.ReactNode;
}

/** The filter above a list. Its text is in the address. */
export function FilterBox({ value, onChange, placeholder, hint, wrong, count }: Props) {
  return (
    <>
      <div className="filter">
        <label className="fbox">
          <span className="sr">Filter</span>
          <input
            type="search"
            value={value}
            placeholder={placeholder}
            spellCheck={false}
            aria-invalid={wrong !== undefined}
            aria-describedby="filter-wrong"
            onChange={(event) => onChange(event.target.value)}
          />
          <span className="t2 faint m-no">{hint}</span>
        </label>
        <span className="count" role="status">
          {count}
        </span>
      </div>
      <p id="filter-wrong" className={wrong === undefined ? 'sr' : 'hint c-not filter-wrong'}>
        {wrong}
      </p>
    </>
  );
}
