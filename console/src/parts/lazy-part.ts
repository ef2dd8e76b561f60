import { lazyRouteComponent } from '@tanstack/react-router';
import { lazy } from 'react';
import { NOT_LOADED, isOtherBuild, untilAskedAgain } from '../data/updated.ts';

/**
 * A part of a page whose code is loaded when it is needed. While it cannot be loaded, nothing stands in its place and the frame says what to do:
 * what was typed on the page stays.
 */
export function lazyPart<P extends object>(load: () => Promise<{ default: React.ComponentType<P> }>) {
  return lazy(() => insist(load));
}

async function insist<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    await untilAskedAgain();
    return insist(load);
  }
}

/**
 * A page whose code is loaded when it is opened. The router reloads the document by itself when that fails with the browser's own error, which
 * helps when another build has taken the place of this one; without a network it would leave nothing of the tab.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        throw (await isOtherBuild()) ? error : new Error(NOT_LOADED, { cause: error });
      }),
    name,
  );
