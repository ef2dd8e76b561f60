import { getSystemErrorMap } from 'node:util';
import { toError } from './deadline.ts';

/** The code of a failed file operation: `ENOENT`. Undefined for other errors. */
export function fileErrorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** `permission denied (EACCES)`: the system's reason, without the call and the path that Node puts around it. */
export function fileErrorReason(error: unknown): string {
  const errno: unknown = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const [name, text] = (typeof errno === 'number' ? getSystemErrorMap().get(errno) : undefined) ?? [];
  return name === undefined ? toError(error).message : `${text} (${name})`;
}
