import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';

/** What an undo guard waits for: a fresh session with the router, and the control plane's answer over the tunnel. */
export interface Reach {
  router: Pick<RouterAdapter, 'testLogin'>;
  isAlive: (deadline: Deadline) => Promise<boolean>;
}

/** Never rejects. */
export async function reachesAll({ router, isAlive }: Reach, deadline: Deadline): Promise<boolean> {
  try {
    const [alive] = await Promise.all([isAlive(deadline), router.testLogin(deadline)]);
    return alive;
  } catch {
    return false;
  }
}
