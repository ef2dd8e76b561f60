import { getSystemErrorMessage } from 'node:util';
import { AppError } from '../../../platform/core/errors.ts';

/** Whether only this port cannot be opened (another program holds it, or it needs root) and another port may work. */
export function isOfThisPort(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'EACCES';
}

/** The reason as the forward's `way_reason` shows it. */
export function portProblemText(port: number, error: unknown): string {
  const isHeld = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return isHeld ? `port ${port} is held by another program` : cannotListen(`port ${port} cannot be opened`, error).message;
}

/** @param what the failure, for example `port 20417 cannot be opened`; the system's reason is added */
export function cannotListen(what: string, error: unknown): AppError {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  const reason = errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  return new AppError('unavailable', `${what}: ${reason}`);
}
