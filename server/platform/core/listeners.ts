type Listener<T> = (event: T) => void;

/** Listeners for events in this process. They must not throw. */
export class Listeners<T> {
  readonly #listeners = new Set<Listener<T>>();

  publish(news: T): void {
    for (const listener of this.#listeners) listener(news);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: Listener<T>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
