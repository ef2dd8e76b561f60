/** Both ways of API login and the five failures a connection has. */
import { createHash, randomBytes } from 'node:crypto';
import type { Request } from './request.ts';
import type { RouterVersion } from '../version.ts';

export type LoginMethods = 'plain' | 'challenge' | 'both';

/** Before 6.43 only the challenge, from 6.45.1 only the plain password; in between either. */
export function methodsOf(version: RouterVersion): LoginMethods {
  if (!version.atLeast('6.43')) return 'challenge';
  return version.atLeast('6.45.1') ? 'plain' : 'both';
}

/** A connection is thrown out with its fifth failure. */
const MOST_FAILURES = 5;

/** How a login attempt is proved: the router compares without the codec knowing passwords. */
export type Proof = { kind: 'password'; password: string } | { kind: 'response'; challenge: Buffer; response: string };

export type LoginStep = { kind: 'challenge'; ret: string } | { kind: 'attempt'; name: string; proof: Proof } | { kind: 'invalid' };

export class LoginGate {
  readonly #methods: LoginMethods;
  #challenge: Buffer | undefined;
  #failures = 0;

  constructor(methods: LoginMethods) {
    this.#methods = methods;
  }

  /** What a `/login` sentence asks for. */
  step(request: Request): LoginStep {
    const name = request.attributes.get('name');
    const [password, response] = [request.attributes.get('password'), request.attributes.get('response')];
    if (name !== undefined && response !== undefined) return this.#answer(name, response);
    const plain = name !== undefined && this.#methods !== 'challenge';
    if (plain) return { kind: 'attempt', name, proof: { kind: 'password', password: password ?? '' } };
    if (this.#methods === 'plain') return { kind: 'invalid' };
    this.#challenge = randomBytes(16);
    return { kind: 'challenge', ret: this.#challenge.toString('hex') };
  }

  #answer(name: string, response: string): LoginStep {
    const challenge = this.#challenge;
    this.#challenge = undefined;
    if (!challenge || this.#methods === 'plain') return { kind: 'invalid' };
    return { kind: 'attempt', name, proof: { kind: 'response', challenge, response } };
  }

  /** Counts a failure; true when the connection has used up its attempts. */
  fail(): boolean {
    this.#failures += 1;
    return this.#failures >= MOST_FAILURES;
  }
}

/** `00` and the hexadecimal MD5 of a zero byte, the password's bytes and the challenge's bytes. */
export function challengeResponse(password: string, challenge: Buffer): string {
  return `00${createHash('md5')
    .update(Buffer.from([0]))
    .update(Buffer.from(password, 'utf8'))
    .update(challenge)
    .digest('hex')}`;
}

export function proves(proof: Proof, password: string): boolean {
  if (proof.kind === 'password') return proof.password === password;
  return proof.response.toLowerCase() === challengeResponse(password, proof.challenge);
}
