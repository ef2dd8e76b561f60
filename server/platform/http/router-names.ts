import { isUuid } from '../core/ids.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';

/** @throws AppError `not_found`, or `conflict` when several routers of the team have this identity */
export type RouterIdOfIdentity = (teamId: string, identity: string) => Promise<string>;

/**
 * Lets every path of `scope` name a router by its identity instead of its id: a person types `edge-berlin`, and a lookup
 * beforehand would cost a request of the rate limit. What looks like an id is only ever an id, so no router can take
 * another's place by its name.
 */
export function resolveRouterNames(scope: App, idOf: RouterIdOfIdentity): void {
  // Before validation, which expects an id, and after the caller's right has been checked.
  scope.addHook('preValidation', async (request) => {
    const params = request.params as { router_id?: unknown };
    if (typeof params.router_id !== 'string' || isUuid(params.router_id.toLowerCase())) return;
    params.router_id = await idOf(principalOf(request).teamId, params.router_id);
  });
}
