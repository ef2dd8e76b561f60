/** Words that end the path of a command; what follows are its parameters. */
const VERBS = new Set(
  'print add set remove enable disable unset move export monitor get find reset flush renew release reboot shutdown check once ping'.split(
    ' ',
  ),
);

export interface TypedCommand {
  command: string;
  parameters: string;
}

/** Splits what a person typed into the two fields of the interface: `/ip address print where dynamic=no`. */
export function splitCommand(line: string): TypedCommand {
  const words = line.trim().split(/\s+/);
  let end = words.findIndex((word, index) => index > 0 && (word.includes('=') || word.startsWith('?') || word === 'where'));
  if (end === -1) end = words.length;
  const verb = words.slice(0, end).findIndex((word) => VERBS.has(word.split('/').at(-1)!));
  if (verb !== -1) end = verb + 1;
  return { command: words.slice(0, end).join(' '), parameters: words.slice(end).join(' ') };
}

/** At most so many are offered: more nobody reads. */
const OFFERED = 8;

/** Commands that begin like what is typed; `/ip ad` and `/ip/ad` are the same. */
export function completionsOf(line: string, commands: readonly string[], history: readonly string[]): string[] {
  const typed = line.trimStart();
  if (typed === '') return [];
  const wanted = normal(typed);
  const before = history.filter((one) => one !== typed && one.startsWith(typed));
  const begins = commands.filter((one) => one !== typed && one.startsWith(wanted));
  // Looking comes first, also in the order of what is offered.
  const begin = [...begins.filter(isPrint), ...begins.filter((one) => !isPrint(one))];
  // Somebody who remembers only the last word of a menu finds it as well.
  const within = wanted.length < 4 ? [] : commands.filter((one) => !one.startsWith(wanted) && one.includes(wanted));
  return [...new Set([...before, ...begin, ...within])].slice(0, OFFERED);
}

function isPrint(command: string): boolean {
  return command.endsWith('/print');
}

function normal(text: string): string {
  return `/${text.replace(/^\//, '').replaceAll(/[ /]+/g, '/')}`;
}

/** Newest first, each once. */
const KEPT = 100;

export function withHistory(history: readonly string[], line: string): string[] {
  return [line, ...history.filter((one) => one !== line)].slice(0, KEPT);
}
