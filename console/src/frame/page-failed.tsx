import { UPDATED } from '../data/updated.ts';
import { words } from './words.ts';

/**
 * Stands in place of a page that could not be shown. Its code is loaded when it is opened; the router reloads once by itself when that fails,
 * because an upgrade has most likely replaced it.
 */
export function PageFailed({ error }: { error: unknown }) {
  const reason = error instanceof Error ? error.message : String(error);
  // The browser's words and Vite's: such an error has no type of its own.
  const isLoading = /dynamically imported module|module script|preload CSS/i.test(reason);
  return (
    <div className="head">
      <div>
        <h1>{words.failed.title}</h1>
        <p>{isLoading ? `${UPDATED} ${words.failed.proxy}` : reason}</p>
        <p className="more-below">
          <button type="button" className="btn main-act" onClick={() => location.reload()}>
            {words.reload}
          </button>
        </p>
      </div>
    </div>
  );
}
