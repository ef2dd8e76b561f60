import { getSystemErrorMessage } from 'node:util';
import { AppError } from '../../../platform/core/errors.ts';

/** Whether another port of the same address may well be opened: this one belongs to another program, or to root. */
export function isOfThisPort(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'EACCES';
}

/** In words for the record of the forward. */
export function whyNoPort(port: number, error: unknown): string {
  const isHeld = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return isHeld ? `port ${port} is held by another program` : cannotListen(`port ${port} cannot be opened`, error).message;
}

/** @param what is not to be listened on, and how that is said: `port 20417 cannot be opened` */
export function cannotListen(what: string, error: unknown): AppError {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const reason = errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new AppError('unavailable', `${what}: ${reason}`);
}
