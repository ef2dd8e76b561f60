/** Where the HTTP edge remembers repeated POSTs; implemented by the idempotency feature. */
export interface IdempotencyScope {
  teamId: string;
  /** Method and path. */
  scope: string;
  key: string;
  /** Who uses it: the id of an API key or a person, whose share the answer takes. The same key of a colleague is the same request. */
  caller: string;
}

/** A key that a request under way holds. `claim` is that request's own: a repeat that takes the key over has another. */
export interface HeldKey extends IdempotencyScope {
  claim: string;
}

export type Claim =
  | { state: 'claimed'; held: HeldKey }
  | { state: 'other_payload' }
  | { state: 'running' }
  /** The process that ran the first request ended before it answered, and the route cannot tell what it did. */
  | { state: 'interrupted' }
  | { state: 'finished'; status: number; response: string };

export interface IdempotencyKeys {
  /**
   * @throws AppError `quota_exceeded` for a new key when the caller or the team has so many that no answer, however short, may be added
   * @param payload the body that makes the request; only a keyed hash of it is stored, because it may hold a password
   * @param resumable the route finds its earlier record by the key, so an interrupted request is claimed again
   */
  claim(scope: IdempotencyScope, payload: string, resumable: boolean): Promise<Claim>;
  /** Whether the caller may still have an answer of so many characters kept. When not, {@link finish} is given a short one in its place. */
  hasRoomFor(held: HeldKey, length: number): boolean;
  /** The request is over, and this is its answer. */
  finish(held: HeldKey, status: number, response: string): Promise<void>;
  /** The request is over, and surely nothing was done. */
  release(held: HeldKey): Promise<void>;
}
