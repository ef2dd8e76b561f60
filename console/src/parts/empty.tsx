interface Props {
  /** What is not there: `No API keys yet.` */
  title: string;
  /** What would be here and what it is for, in one sentence. */
  children: React.ReactNode;
  /** The one action that brings it; without the role for it, a sentence about who may. */
  action?: React.ReactNode;
}

/** A list without records. */
export function Empty({ title, children, action }: Props) {
  return (
    <>
      <p className="b">{title}</p>
      <p>{children}</p>
      {action === undefined ? null : <p className="more-below">{action}</p>}
    </>
  );
}
