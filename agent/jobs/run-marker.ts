import { quote } from '../../routeros-text/quote.ts';
import { isAtLeast } from '../../routeros-text/versions.ts';

/**
 * The run marker. A job's script is stored on the router as `signalbox-<job id>`. Running it replaces its stored source by a marker.
 * So the marker survives a reboot, and a second run would do nothing:
 *
 * - the wrapped script: prepared, nothing has run;
 * - `# job <id> begun`: written by its first statement;
 * - `# job <id> done`: written by its last;
 * - `# job <id> error <message>`: on versions that can catch an error with its message;
 * - `# job <id> undone`: only in the restore point of a guarded job (guard/undo-guard.ts).
 *
 * The source of a script is a property of every RouterOS version; a comment on scripts is not.
 */
export type Marker =
  | { state: 'absent' }
  | { state: 'prepared' }
  | { state: 'begun' }
  | { state: 'done' }
  | { state: 'undone' }
  | { state: 'error'; message: string };

/** First version with `:onerror`, which catches an error together with its message. */
const ONERROR_SINCE = '7.13';
/** Longest message kept in the marker. */
const MESSAGE_CHARS = 500;

export function scriptNameOf(jobId: string): string {
  return `signalbox-${jobId}`;
}

/**
 * The stored source. The caller's lines keep their numbers, because the router names them in errors. Versions without `:onerror` do
 * not catch an error: `on-error=` would hide its message, while the answer to the run contains it.
 */
export function wrapScript(jobId: string, script: string, version: string): string {
  const set = (value: string): string => `/system script set [find name=${quote(scriptNameOf(jobId))}] source=${value}`;
  const begun = set(quote(marker(jobId, 'begun')));
  const done = set(quote(marker(jobId, 'done')));
  if (!catchesErrors(version)) return `${begun}; ${script}\n${done}`;
  const error = set(`(${quote(`${marker(jobId, 'error')} `)} . [:pick $signalboxError 0 ${MESSAGE_CHARS}])`);
  return `${begun}; :onerror signalboxError in={ ${script}\n${done} } do={ ${error}; :error $signalboxError }`;
}

/** A router's error about the stored source, with columns of line 1 converted to those of the caller's script. */
export function withOwnColumn(message: string, jobId: string, version: string): string {
  // Columns count bytes, from 1.
  const before = Buffer.byteLength(wrapScript(jobId, '', version).split('\n', 1)[0] ?? '');
  return message.replace(/\(line 1 column (\d+)\)/g, (place, column: string) =>
    Number(column) > before ? `(line 1 column ${Number(column) - before})` : place,
  );
}

export function readMarker(jobId: string, source: string | undefined): Marker {
  if (source === undefined) return { state: 'absent' };
  const text = source.trimEnd();
  if (text === marker(jobId, 'begun')) return { state: 'begun' };
  if (text === marker(jobId, 'done')) return { state: 'done' };
  if (text === undoneMarker(jobId)) return { state: 'undone' };
  const error = marker(jobId, 'error');
  if (text.startsWith(error)) return { state: 'error', message: text.slice(error.length).trim() };
  return { state: 'prepared' };
}

/** The script's source while the restore point of its job is saved. */
export function undoneMarker(jobId: string): string {
  return marker(jobId, 'undone');
}

function marker(jobId: string, state: 'begun' | 'done' | 'error' | 'undone'): string {
  return `# job ${jobId} ${state}`;
}

/** Whether the marker contains the message of a script error on this version. */
export function catchesErrors(version: string): boolean {
  return isAtLeast(version, ONERROR_SINCE);
}
