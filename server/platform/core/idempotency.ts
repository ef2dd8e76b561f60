/** Stores idempotency keys of POST requests for the HTTP edge; implemented by the idempotency feature. */
export interface IdempotencyScope {
  teamId: string;
  /** Method and path. */
  scope: string;
  key: string;
  /** The caller: id of an API key or a user, whose share the response uses. The same key from a colleague is the same request. */
  caller: string;
}

/** A key held by a running request. `claim` identifies that request: a repeat that takes the key over has another one. */
export interface HeldKey extends IdempotencyScope {
  claim: string;
}

export type Claim =
  | { state: 'claimed'; held: HeldKey }
  | { state: 'other_payload' }
  | { state: 'running' }
  /** The process ended before it answered the first request, and the route cannot tell what that request did. */
  | { state: 'interrupted' }
  | { state: 'finished'; status: number; response: string };

export interface IdempotencyKeys {
  /**
   * @throws AppError `quota_exceeded` for a new key when the caller or the team has no room for any stored response
   * @param payload the body of the request; only a keyed hash of it is stored, because it may contain a password
   * @param resumable the route finds its earlier record by the key, so an interrupted request is claimed again
   */
  claim(scope: IdempotencyScope, payload: string, resumable: boolean): Promise<Claim>;
  /** Whether a response of this many characters fits into the caller's share. If not, pass a short one to {@link finish}. */
  hasRoomFor(held: HeldKey, length: number): boolean;
  /** The request has ended with this response. */
  finish(held: HeldKey, status: number, response: string): Promise<void>;
  /** The request has ended and has certainly changed nothing. */
  release(held: HeldKey): Promise<void>;
}
