interface Props {
  title: React.ReactNode;
  /** The way back up: links. */
  crumb?: React.ReactNode;
  /** The state of what the page is about, in one sentence under the title. */
  sentence?: React.ReactNode;
  /** What the page is for, said quietly. */
  note?: React.ReactNode;
  /** At most one of them is the main action (`btn main-act`). */
  actions?: React.ReactNode;
}

/** The head of every page: where it is, what it is, and what is done here, always at the same place. */
export function PageHead({ title, crumb, sentence, note, actions }: Props) {
  return (
    <div className="head">
      <div>
        {crumb === undefined ? null : <p className="crumb">{crumb}</p>}
        <h1>{title}</h1>
        {sentence === undefined ? null : <p className="say">{sentence}</p>}
        {note === undefined ? null : <p>{note}</p>}
      </div>
      {actions === undefined ? null : <div className="acts">{actions}</div>}
    </div>
  );
}
