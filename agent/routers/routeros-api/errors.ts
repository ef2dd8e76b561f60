import { AgentError } from '../../core/errors.ts';

export interface Trap {
  message: string;
  /** 0-7 where the router gave one. */
  category: number | undefined;
}

/**
 * The router refused. One command may be answered by several traps: `message` joins their texts, `category` is the first one given,
 * `traps` has them all.
 */
export class RouterTraps extends AgentError {
  readonly traps: readonly Trap[];

  constructor(traps: readonly Trap[]) {
    const texts = [...new Set(traps.map((trap) => trap.message))];
    super('rejected', texts.join('; '), { category: traps.find((trap) => trap.category !== undefined)?.category });
    this.name = 'RouterTraps';
    this.traps = [...traps];
  }
}
