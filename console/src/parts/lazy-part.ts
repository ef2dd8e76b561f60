import { lazy } from 'react';
import { noteUpdate } from '../data/updated.ts';

/**
 * A part of a page whose code is loaded when it is needed. When it cannot be loaded, nothing stands in its place and the frame says what to do:
 * what was typed on the page stays.
 */
export function lazyPart<P extends object>(load: () => Promise<{ default: React.ComponentType<P> }>) {
  return lazy(() =>
    load().catch((): { default: React.ComponentType<P> } => {
      noteUpdate();
      return { default: Nothing };
    }),
  );
}

function Nothing(): null {
  return null;
}
