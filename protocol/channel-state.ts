/**
 * The rules of one channel, a WebSocket that carries one TCP connection after another. Pure.
 *
 * Invariants
 * - Only the opener (the control plane) starts a connection; they are numbered from 1 without gaps.
 * - Each direction of a connection ends once, by a half-close or by a reset. A side that has half-closed may still
 *   reset afterwards, which only means "I no longer read". The number distinguishes a late reset from a current one.
 * - The channel is free when both directions have ended. Messages arrive in order, so both sides agree on what every
 *   byte belongs to, although they become free at different moments.
 */
export type ChannelRole = 'opener' | 'accepter';

type Direction = 'open' | 'ended' | 'reset';

/**
 * What to do with a received message. `deliver`: pass it to the current connection. `discard`: drop it, because this side has
 * reset the connection and the peer did not know yet. `ignore`: a late reset of a connection that is over. `violation`: the peer
 * breaks the rules, close the WebSocket.
 */
export type Verdict = 'deliver' | 'discard' | 'ignore' | 'violation';

export class ChannelState {
  readonly role: ChannelRole;
  #n = 0;
  #sent: Direction = 'ended';
  #received: Direction = 'ended';

  constructor(role: ChannelRole) {
    this.role = role;
  }

  /** Number of the current or last connection; 0 before the first. */
  get n(): number {
    return this.#n;
  }

  get free(): boolean {
    return this.#sent !== 'open' && this.#received !== 'open';
  }

  /** True while a reset was sent and the peer has not ended its direction yet. */
  get discarding(): boolean {
    return this.#sent === 'reset' && this.#received === 'open';
  }

  /** Starts the next connection. @returns its number for the open message, undefined when that is not allowed now */
  open(): number | undefined {
    if (this.role !== 'opener' || !this.free) return undefined;
    return this.#begin();
  }

  maySendBytes(): boolean {
    return this.#sent === 'open';
  }

  /** Half-closes the outgoing direction. @returns false when it has ended already: nothing may be sent */
  end(): boolean {
    if (this.#sent !== 'open') return false;
    this.#sent = 'ended';
    return true;
  }

  /** Resets the connection. @returns false when there is nothing left to reset: nothing may be sent */
  reset(): boolean {
    if (this.free || this.#sent === 'reset') return false;
    this.#sent = 'reset';
    return true;
  }

  receiveOpen(n: number): Verdict {
    if (this.role !== 'accepter' || !this.free || n !== this.#n + 1) return 'violation';
    this.#begin();
    return 'deliver';
  }

  receiveBytes(): Verdict {
    if (this.#received !== 'open') return 'violation';
    return this.#sent === 'reset' ? 'discard' : 'deliver';
  }

  receiveEnd(): Verdict {
    const verdict = this.receiveBytes();
    if (verdict !== 'violation') this.#received = 'ended';
    return verdict;
  }

  /** After `deliver`, a side that has not ended its own direction answers with {@link reset}, so that both sides become free. */
  receiveReset(n: number): Verdict {
    if (n > this.#n) return 'violation';
    if (n < this.#n || this.free) return 'ignore';
    const verdict = this.#sent === 'reset' ? 'discard' : 'deliver';
    this.#received = 'reset';
    return verdict;
  }

  #begin(): number {
    this.#n += 1;
    this.#sent = 'open';
    this.#received = 'open';
    return this.#n;
  }
}
