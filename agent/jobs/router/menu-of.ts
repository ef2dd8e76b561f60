import type { RouterAdapter } from '../../routers/adapter.ts';
import { apiMenu } from './api-menu.ts';
import { consoleMenu } from './console-menu.ts';
import type { RouterMenu } from './menu.ts';

/** The API where there is one: it answers in fields, not in text for people. */
export function menuOf(router: RouterAdapter): RouterMenu {
  return router.hasApi ? apiMenu(router) : consoleMenu(router);
}
