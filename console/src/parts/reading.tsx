import { useQueryClient } from '@tanstack/react-query';
import { ProblemError } from '../../../client/browser.ts';
import { words } from './words.ts';

/** Stands where records will be: hairlines, nothing that moves. */
export function Reading() {
  return (
    <div className="reading" role="status">
      <span className="sr">{words.reading.reading}</span>
    </div>
  );
}

/** What a page says when its records cannot be read. */
export function ReadingFailed({ error, what }: { error: Error; what: string }) {
  return (
    <p className="empty" role="alert">
      {words.reading.failed(what)} {sentenceOf(error)} <TryAgain />
    </p>
  );
}

/** Reads again whatever the page shows and could not read: what failed together usually comes back together. */
export function TryAgain() {
  const queries = useQueryClient();
  const readAgain = () => queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  return (
    <button type="button" className="btn quiet sm" onClick={() => void readAgain()}>
      {words.reading.tryAgain}
    </button>
  );
}

export function sentenceOf(error: Error): string {
  if (!(error instanceof ProblemError)) return words.reading.noAnswer;
  return words.reading.problem(error.message, error.requestId);
}
