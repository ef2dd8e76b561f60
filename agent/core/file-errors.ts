import { readFile } from 'node:fs/promises';
import { getSystemErrorMap } from 'node:util';
import { toError } from './deadline.ts';
import { AgentError } from './errors.ts';

/** The code of an error of the system or of Node: `ENOENT`. Undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** `permission denied (EACCES)`: the system's reason, without the call and the path that Node adds. */
export function fileErrorReason(error: unknown): string {
  const errno: unknown = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const [name, text] = (typeof errno === 'number' ? getSystemErrorMap().get(errno) : undefined) ?? [];
  return name === undefined ? toError(error).message : `${text} (${name})`;
}

/** The error for the control plane: without a path, because only the agent's operator can act on it. */
export function stateUnwritable(error: unknown): AgentError {
  return new AgentError('internal', `the agent's state folder cannot be written: ${fileErrorReason(error)}`, { cause: error });
}

/** Reads a file that a setting names. @throws AgentError `invalid` with the name of the setting, the file and the reason */
export async function readNamedFile(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AgentError('invalid', `${setting}: ${file} cannot be read: ${fileErrorReason(error)}`, { cause: error });
  }
}
