import { getSystemErrorMessage } from 'node:util';
import { AppError } from '../../core/errors.ts';

/** Whether another port of the same address may well be opened: this one belongs to another program, or to root. */
export function isOfThisPort(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'EACCES';
}

/** @param what is not to be listened on, and how that is said: `port 20417 cannot be opened` */
export function cannotListen(what: string, cause: unknown): AppError {
  const { code, errno, message } = cause as NodeJS.ErrnoException;
  const reason = errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new AppError('unavailable', `${what}: ${reason}`, { cause });
}
