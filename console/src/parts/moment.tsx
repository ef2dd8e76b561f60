import { exactTime, timeAmong } from './times.ts';

const ALONE: ReadonlySet<string> = new Set();

interface Props {
  at: string | null | undefined;
  className?: string;
  /** In a list whose order is the point: the short times that several of its moments have. */
  shared?: ReadonlySet<string>;
}

/** A moment, as short as it can be; exact, with its zone, when pointed at. */
export function Moment({ at, className, shared = ALONE }: Props) {
  if (at === null || at === undefined) return null;
  return (
    <time dateTime={at} title={exactTime(at)} className={className}>
      {timeAmong(shared, at)}
    </time>
  );
}
