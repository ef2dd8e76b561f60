import type { Duplex } from 'node:stream';
import type { Deadline } from '../../routers/adapter.ts';
import { connectTcp, connectedTcp } from '../tcp.ts';
import type { Target, Way } from '../types.ts';

/** The agent dials the target itself: the target is the router, or the configuration says so. Nothing to undo. */
export class DirectWay implements Way {
  readonly name = 'direct';
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  connect(deadline: Deadline): Promise<Duplex> {
    return connectedTcp(this.#target, deadline);
  }

  connectNow(deadline: Deadline): Duplex {
    return connectTcp(this.#target, deadline);
  }

  /** Nothing is on the router. */
  renew(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
