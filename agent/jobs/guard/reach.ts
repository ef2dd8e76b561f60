import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';

/** What disarms an undo guard: a fresh session with the router, and the control plane's answer over the tunnel. */
export interface Reach {
  router: Pick<RouterAdapter, 'testLogin'>;
  isAlive: (deadline: Deadline) => Promise<boolean>;
}

/** Whether both can be reached. Never rejects. */
export async function reachesAll({ router, isAlive }: Reach, deadline: Deadline): Promise<boolean> {
  try {
    const [alive] = await Promise.all([isAlive(deadline), router.testLogin(deadline)]);
    return alive;
  } catch {
    return false;
  }
}
