import { exactTime, shortTime } from './times.ts';

/** A moment, as short as it can be; exact, with its zone, when pointed at. */
export function Moment({ at, className }: { at: string | null | undefined; className?: string }) {
  if (at === null || at === undefined) return null;
  return (
    <time dateTime={at} title={exactTime(at)} className={className}>
      {shortTime(at)}
    </time>
  );
}
