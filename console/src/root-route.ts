import { createRootRoute } from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { NoSuchPage } from './pages/no-such-page.tsx';

/** Above every page. Each area of the application hangs its routes under it: `pages/<area>/routes.ts`. */
export const root = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage });
