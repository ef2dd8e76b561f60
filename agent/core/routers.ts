import type { RouterAdapter } from '../routers/adapter.ts';
import { AgentError } from './errors.ts';

/** All routers of this agent by the name in its configuration. */
export type Routers = ReadonlyMap<string, RouterAdapter>;

/**
 * The router behind a name, if it has the expected hardware id. Another device may have the name by now: an operation for the old
 * one must not reach it.
 * @throws AgentError `invalid`, `router_unreachable`, `wrong_router`
 */
export function findRouter(routers: Routers, name: string, hardwareId: string): RouterAdapter {
  const router = routers.get(name);
  if (!router) throw new AgentError('invalid', `this agent has no router named ${name}`);
  const { facts, reachable, reason } = router.state();
  if (!facts) throw new AgentError('router_unreachable', reason ?? 'the router has not been reached yet');
  if (facts.hardwareId !== hardwareId) {
    throw new AgentError('wrong_router', `another device (${facts.hardwareId}) answers at ${name}`);
  }
  if (!reachable) throw new AgentError('router_unreachable', reason ?? 'the router does not answer');
  return router;
}
