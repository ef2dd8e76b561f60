import { ProblemError } from '../../../client/browser.ts';

/** Stands where records will be: hairlines, nothing that moves. */
export function Reading() {
  return (
    <div className="reading" role="status">
      <span className="sr">Reading</span>
    </div>
  );
}

/** What a page says when its records cannot be read. */
export function ReadingFailed({ error, what }: { error: Error; what: string }) {
  return (
    <p className="empty" role="alert">
      {what} cannot be read now. {sentenceOf(error)}
    </p>
  );
}

export function sentenceOf(error: Error): string {
  if (!(error instanceof ProblemError)) return 'The control plane does not answer; this page tries again with the next change.';
  return error.requestId === null ? `${error.message}.` : `${error.message} (request ${error.requestId}).`;
}
