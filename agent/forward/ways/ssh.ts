import type { Duplex } from 'node:stream';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import type { SshForwarding } from '../ssh-forwarding.ts';
import type { Target, Way } from '../types.ts';

/** The router's SSH server dials the target (direct-tcpip). */
export class SshWay implements Way {
  readonly name = 'ssh';
  readonly #router: RouterAdapter;
  readonly #target: Target;
  readonly #forwarding: SshForwarding;

  private constructor(router: RouterAdapter, target: Target, forwarding: SshForwarding) {
    this.#router = router;
    this.#target = target;
    this.#forwarding = forwarding;
  }

  /** Has the router's forwarding switched on for as long as the way is open. @throws AgentError */
  static async open(router: RouterAdapter, target: Target, forwarding: SshForwarding, deadline: Deadline): Promise<SshWay> {
    await forwarding.acquire(router, deadline);
    return new SshWay(router, target, forwarding);
  }

  connect(deadline: Deadline): Promise<Duplex> {
    return this.#router.openTcp(this.#target, deadline);
  }

  close(): Promise<void> {
    return this.#forwarding.release(this.#router);
  }
}
