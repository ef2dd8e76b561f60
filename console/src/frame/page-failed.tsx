import { useState } from 'react';
import { NOT_LOADED, UPDATED, reload } from '../data/updated.ts';
import { words } from './words.ts';

/**
 * Stands in place of a page that could not be shown. Its code is loaded when it is opened (`lazyPage`); the router reloads once by itself when an
 * upgrade has replaced it.
 */
export function PageFailed({ error }: { error: unknown }) {
  const [isSilent, setSilent] = useState(false);
  const tryAgain = async (): Promise<void> => setSilent(!(await reload()));
  const reason = error instanceof Error ? error.message : String(error);
  // The browser's words and Vite's: such an error has no type of its own.
  const isLoading = /dynamically imported module|module script|preload CSS/i.test(reason);
  return (
    <div className="head">
      <div>
        <h1>{words.failed.title}</h1>
        <p>{isLoading ? `${UPDATED} ${words.failed.proxy}` : reason}</p>
        <p role="status">{isSilent ? words.failed.silent : null}</p>
        <p className="more-below">
          <button type="button" className="btn main-act" onClick={() => void tryAgain()}>
            {reason === NOT_LOADED ? words.tryAgain : words.reload}
          </button>
        </p>
      </div>
    </div>
  );
}
