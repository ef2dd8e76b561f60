import { isExportText } from '../../routeros-text/export-text.ts';
import { AgentError } from '../core/errors.ts';
import type { ApiCommand, CommandReply } from './adapter.ts';
import { parseAttribute } from './routeros-api/index.ts';

/**
 * `export` of the whole configuration or of one menu, as text. Only a console prints it. With `file=` it writes a file, which works
 * over the API like any other command.
 */

/** Flags of `export` in RouterOS 6 and 7; the router refuses those that its version does not have. */
const FLAGS = new Set(['compact', 'terse', 'verbose', 'hide-sensitive', 'show-sensitive']);

const MENU = /^(?:\/[a-z0-9-]+)*\/export$/;

export function printsExport({ path, words }: ApiCommand): boolean {
  return path.endsWith('/export') && !words.some((word) => word.startsWith('=file='));
}

/** @throws AgentError `invalid` for an invalid path or flag of `export` */
export function exportLine({ path, words }: ApiCommand): string {
  if (!MENU.test(path)) throw new AgentError('invalid', `not a command path: ${JSON.stringify(path)}`);
  const flags = words.map((word) => {
    const [name = '', value = ''] = parseAttribute(word) ?? [];
    if (FLAGS.has(name) && (value === '' || value === 'yes')) return name;
    throw new AgentError('invalid', `export has no flag ${JSON.stringify(word)}; it takes ${[...FLAGS].join(', ')} and file=`);
  });
  return [path.replaceAll('/', ' ').trim().replace(/^/, '/'), ...flags].join(' ');
}

/**
 * One row for each line, so that a large export is sent in batches.
 * @throws AgentError `rejected` with the router's text when the output is not an export
 */
export function readExport(text: string): CommandReply {
  const lines = text.trimEnd().split('\n');
  if (!isExportText(text))
    throw new AgentError('rejected', lines.find((line) => line.trim() !== '')?.trim() ?? 'the router printed nothing');
  return { rows: lines.map((line) => ({ line })) };
}
