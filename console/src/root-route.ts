import { createRootRoute } from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { NoSuchPage } from './pages/no-such-page.tsx';

/** Above every page. Each area of the application hangs its routes under it: `pages/<area>/routes.ts`. */
export const root = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage });

/**
 * For `validateSearch`: what `read` leaves out of an address counts as missing. The router itself would keep it, and a page would see
 * `?sort=price` as it was typed.
 */
export function searchBy<Search extends object>(
  read: (search: Record<string, unknown>) => Search,
): (search: Record<string, unknown>) => Search {
  return (search) => ({ ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])), ...read(search) });
}
