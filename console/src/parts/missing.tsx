import { isGone } from '../data/gone.ts';
import { AppLink } from './app-link.tsx';
import { TryAgain, sentenceOf } from './reading.tsx';
import { words } from './words.ts';

interface Props {
  error: Error;
  /** The record: `job`. */
  what: string;
  /** Where the others are: the list that leads here. */
  list: { href: string; name: string };
}

/** A page whose record cannot be read, or was removed while it was shown. */
export function MissingRecord({ error, what, list }: Props) {
  return (
    <div className="head">
      <div>
        <p className="crumb">
          <AppLink href={list.href}>{list.name}</AppLink>
        </p>
        <h1>{isGone(error) ? words.missing.gone(what) : words.missing.unread(what)}</h1>
        {isGone(error) ? (
          <p>{words.missing.why}</p>
        ) : (
          <p role="alert">
            {sentenceOf(error)} <TryAgain />
          </p>
        )}
      </div>
    </div>
  );
}
