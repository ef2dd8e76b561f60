import { AgentError } from '../../core/errors.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { quote } from '../../../routeros-text/quote.ts';
import { failureIn } from '../../../routeros-text/refusals.ts';
import { parseBytes } from '../../../routeros-text/values.ts';
import type { RouterMenu } from './menu.ts';

/** Largest output: a stored source has at most 2,000 characters of script; a marker is one line. */
const MAX_BYTES = 64 * 1024;
/** Prefix of intended output: any other output is an error or a message of the router. */
const TAG = 'signalbox:';

/** {@link RouterMenu} over single console lines, for routers with SSH only. */
export function consoleMenu(router: RouterAdapter): RouterMenu {
  async function run(line: string, deadline: Deadline): Promise<string> {
    const { text } = await router.console(line, { ...deadline, maxBytes: MAX_BYTES });
    return text;
  }

  async function change(line: string, deadline: Deadline): Promise<void> {
    const failure = failureIn(await run(line, deadline));
    if (failure !== undefined) throw new AgentError('rejected', failure);
  }

  /** The output after the tag, or undefined. */
  async function ask(line: string, deadline: Deadline): Promise<string | undefined> {
    const text = await run(line, deadline);
    const at = text.indexOf(TAG);
    if (at !== -1) return text.slice(at + TAG.length).replace(/\n$/, '');
    const failure = failureIn(text);
    if (failure !== undefined) throw new AgentError('rejected', failure);
    return undefined;
  }

  const each = (menu: string, where: string, what: string): string =>
    `:foreach i in=[${menu} find where ${where}] do={:put (${quote(TAG)} . [${menu} get $i ${what}])}`;

  async function list(menu: string, containing: string, deadline: Deadline): Promise<string[]> {
    const text = await run(each(menu, `name~${quote(containing)}`, 'name'), deadline);
    return text
      .split('\n')
      .filter((line) => line.startsWith(TAG))
      .map((line) => line.slice(TAG.length).trim());
  }

  return {
    readScript: (name, deadline) => ask(each('/system script', `name=${quote(name)}`, 'source'), deadline),
    writeScript: async (name, source, deadline) => {
      const found = `[/system script find where name=${quote(name)}]`;
      const text = quote(source);
      const add = `/system script add name=${quote(name)} source=${text}`;
      await change(`:if ([:len ${found}] = 0) do={${add}} else={/system script set ${found} source=${text}}`, deadline);
    },
    removeScript: (name, deadline) => change(`/system script remove [find where name=${quote(name)}]`, deadline),
    isRunning: async (name, deadline) => {
      const count = await ask(`:put (${quote(TAG)} . [:len [/system script job find where script=${quote(name)}]])`, deadline);
      return count !== undefined && count !== '0';
    },
    stopScript: (name, deadline) => change(`/system script job remove [find where script=${quote(name)}]`, deadline),
    addEntry: ({ name, everySeconds, startDate, source, policy }, deadline) => {
      const when = `start-date=${startDate} start-time=00:00:00 interval=${everySeconds}s`;
      const line = `/system scheduler add name=${quote(name)} ${when} on-event=${quote(source)} policy=${policy}`;
      return change(line, deadline);
    },
    findEntry: async (name, deadline) => {
      const get = (what: string): string => `[/system scheduler get $i ${what}]`;
      const shown = [quote(TAG), get('run-count'), '","', get('disabled'), '","', get('next-run'), '","', get('on-event')].join(' . ');
      const text = await ask(`:foreach i in=[/system scheduler find where name=${quote(name)}] do={:put (${shown})}`, deadline);
      if (text === undefined) return undefined;
      const [runCount, disabled, nextRun = '', ...source] = text.split(',');
      return { runCount: Number(runCount), disabled: disabled !== 'false', nextRun: nextRun.trim(), source: source.join(',') };
    },
    removeEntry: (name, deadline) => change(`/system scheduler remove [find where name=${quote(name)}]`, deadline),
    listEntries: (containing, deadline) => list('/system scheduler', containing, deadline),
    saveBackup: (name, deadline) => change(`/system backup save name=${quote(name)} dont-encrypt=yes`, deadline),
    saveExport: (name, deadline) => change(`/export file=${quote(name)}`, deadline),
    listFiles: (containing, deadline) => list('/file', containing, deadline),
    removeFile: (name, deadline) => change(`/file remove [find where name=${quote(name)}]`, deadline),
    fileSize: async (name, deadline) => {
      const size = await ask(each('/file', `name=${quote(name)}`, 'size'), deadline);
      return size === undefined ? undefined : (parseBytes(size) ?? 0);
    },
  };
}
