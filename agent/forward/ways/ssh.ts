import type { Duplex } from 'node:stream';
import { AgentError } from '../../core/errors.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import type { SshForwarding } from '../ssh-forwarding.ts';
import type { Target, Way } from '../types.ts';

export interface SshWayOptions {
  router: RouterAdapter;
  target: Target;
  forwarding: SshForwarding;
  /** The router does not forward any more. */
  onLost: (reason: string) => void;
}

/** The router's SSH server dials the target (direct-tcpip). */
export class SshWay implements Way {
  readonly name = 'ssh';
  readonly #options: SshWayOptions;

  private constructor(options: SshWayOptions) {
    this.#options = options;
  }

  /** Has the router's forwarding switched on for as long as the way is open. @throws AgentError */
  static async open(options: SshWayOptions, deadline: Deadline): Promise<SshWay> {
    await options.forwarding.acquire(options.router, deadline);
    return new SshWay(options);
  }

  async connect(deadline: Deadline): Promise<Duplex> {
    try {
      return await this.#options.router.openTcp(this.#options.target, deadline);
    } catch (error) {
      // Somebody has switched it off, which holds for every connection to come.
      if (error instanceof AgentError && error.code === 'not_allowed') this.#options.onLost(error.message);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#options.forwarding.release(this.#options.router);
  }
}
