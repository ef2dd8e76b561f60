/**
 * Tells whether two moments lie in the same turn of the event loop, between which nothing else can have been answered. One immediate in
 * each turn in which it is asked.
 */
export class TurnMarks {
  #mark: object | undefined;

  /** The same object for the rest of this turn. */
  get current(): object {
    if (!this.#mark) {
      this.#mark = {};
      setImmediate(() => (this.#mark = undefined));
    }
    return this.#mark;
  }
}
