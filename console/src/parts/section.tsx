interface Props {
  title: React.ReactNode;
  /** A few words beside the heading: a count, an order. */
  small?: React.ReactNode;
  /** At the right: one link or a control. */
  aside?: React.ReactNode;
  children: React.ReactNode;
}

/** A part of a page under a heading on a line. */
export function Section({ title, small, aside, children }: Props) {
  return (
    <section>
      <div className="h2">
        <h2>{title}</h2>
        {small === undefined ? null : <small>{small}</small>}
        {aside === undefined ? null : <span className="more">{aside}</span>}
      </div>
      {children}
    </section>
  );
}
