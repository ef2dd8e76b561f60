import { isUuid } from '../core/ids.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';

/** @throws AppError `not_found`, or `conflict` when several routers of the team have this identity */
export type RouterIdOfIdentity = (teamId: string, identity: string) => Promise<string>;

/**
 * Accepts a router's identity instead of its id in every path of `scope`: people type `edge-berlin`, and a separate lookup
 * would count against the rate limit. A value in the format of an id is always an id, so a router cannot impersonate
 * another by its name.
 */
export function resolveRouterNames(scope: App, idOf: RouterIdOfIdentity): void {
  // After authorization and before validation, which expects an id.
  scope.addHook('preValidation', async (request) => {
    const params = request.params as { router_id?: unknown };
    if (typeof params.router_id !== 'string' || isUuid(params.router_id.toLowerCase())) return;
    params.router_id = await idOf(principalOf(request).teamId, params.router_id);
  });
}
