import { invalidField } from '../../platform/core/errors.ts';

/** RFC 5321. */
const LONGEST_EMAIL = 254;

/** Mail servers ignore case in practice, and one person must not get two accounts. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** @returns the address as stored. @throws AppError `invalid` */
export function checkEmail(email: string): string {
  const address = normalizeEmail(email);
  if (address.length > LONGEST_EMAIL || !/^[^\s@]+@[^\s@]+$/.test(address)) throw invalidField('email', 'is not an email address');
  return address;
}
