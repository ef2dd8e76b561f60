import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../platform/core/errors.ts';
import { inPasswordTurn } from './password-turns.ts';
import { guessProblemOf, lengthProblemOf, LONGEST_PASSWORD } from './unfit-password.ts';

/** OWASP's first choice for Argon2id: 19 MiB, two passes, parallelism one; about 20 ms in the thread pool. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A password that somebody chooses, or gets. */
export interface NewPassword {
  password: string;
  /** Of the person. */
  email: string;
  /** Name of the field in the request. */
  field?: 'password' | 'new_password';
}

/**
 * Argon2id as a PHC string, which names its own parameters.
 * @throws AppError `invalid` for an unfit password; `unavailable` when too many wait
 */
export async function hashPassword(chosen: NewPassword): Promise<string> {
  checkNewPassword(chosen);
  return inPasswordTurn(() => hash(chosen.password, COST));
}

/**
 * The same for the server's operator, whose command line only warns of a password that somebody would guess: programs call it with passwords that
 * they bring.
 * @throws AppError `invalid` for a password that is too short or too long; `unavailable` when too many wait
 */
export async function hashOperatorsPassword(password: string): Promise<string> {
  refuse(lengthProblemOf(password), 'password');
  return inPasswordTurn(() => hash(password, COST));
}

/** @throws AppError `invalid` */
export function checkNewPassword({ password, email, field = 'password' }: NewPassword): void {
  refuse(lengthProblemOf(password) ?? guessProblemOf(password, email), field);
}

function refuse(reason: string | undefined, field: string): void {
  if (reason !== undefined) throw new AppError('invalid', `password ${reason}`, { errors: { [field]: [reason] } });
}

/** No password has this hash. It is checked for an unknown person, so that the answer takes as long as for a known one. */
const UNMATCHABLE_HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2lnbmFsYm94LW5vYm9keQ$GPiJYr1ph0Zz2mbP0UG8tLFnDJyZ0C2H3hh0kCZMM0M';

/** @throws AppError `unavailable` when too many wait */
export async function passwordMatches(password: string, stored: string | null): Promise<boolean> {
  if (password.length > LONGEST_PASSWORD) return false;
  const matches = await inPasswordTurn(() => verify(stored ?? UNMATCHABLE_HASH, password));
  return matches && stored !== null;
}

/**
 * A forced password change needs a different password, because somebody else may know the current one.
 * @throws AppError `invalid` for the same password
 */
export async function refuseSamePassword(next: string, present: string | null): Promise<void> {
  if (!(await passwordMatches(next, present))) return;
  throw new AppError('invalid', 'The new password must differ from the current one.', {
    errors: { new_password: ['must differ from the current password'] },
  });
}
