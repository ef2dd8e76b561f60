import { ProblemError } from '../../../client/browser.ts';
import { TryAgain, sentenceOf } from './reading.tsx';

/** A page whose record cannot be read. @param what the record: `job` */
export function MissingRecord({ error, what }: { error: Error; what: string }) {
  const isGone = error instanceof ProblemError && error.status === 404;
  return (
    <div className="head">
      <div>
        <h1>{isGone ? `Your team has no such ${what}` : `The ${what} cannot be read`}</h1>
        {isGone ? (
          <p>It may have been removed, or the address is mistyped.</p>
        ) : (
          <p role="alert">
            {sentenceOf(error)} <TryAgain />
          </p>
        )}
      </div>
    </div>
  );
}
