/** Where the HTTP edge remembers repeated POSTs; implemented by the idempotency feature. */
export interface IdempotencyScope {
  teamId: string;
  /** Method and path. */
  scope: string;
  key: string;
}

export type Claim =
  | { state: 'claimed' }
  | { state: 'other_payload' }
  | { state: 'running' }
  /** The process that ran the first request ended before it answered, and the route cannot tell what it did. */
  | { state: 'interrupted' }
  | { state: 'finished'; status: number; response: string };

export interface IdempotencyKeys {
  /** @param resumable the route finds its earlier record by the key, so an interrupted request is claimed again */
  claim(scope: IdempotencyScope, fingerprint: string, resumable: boolean): Promise<Claim>;
  finish(scope: IdempotencyScope, status: number, response: string): Promise<void>;
  release(scope: IdempotencyScope): Promise<void>;
}
