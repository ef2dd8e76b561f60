import type { RouterAdapter } from '../../routers/adapter.ts';
import { apiMenu } from './api-menu.ts';
import { consoleMenu } from './console-menu.ts';
import type { RouterMenu } from './menu.ts';

/** Uses the API if it is configured, because it answers in fields instead of text for people. */
export function menuOf(router: RouterAdapter): RouterMenu {
  return router.hasApi ? apiMenu(router) : consoleMenu(router);
}
