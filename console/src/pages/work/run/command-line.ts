/** Words that end the path of a command; what follows are its parameters. */
const VERBS = new Set(
  'print add set remove enable disable unset move export monitor get find reset flush renew release reboot shutdown check once ping traceroute'.split(
    ' ',
  ),
);

export interface TypedCommand {
  command: string;
  parameters: string;
}

/** Commands whose first parameter a terminal takes without its name. */
const ADDRESSED = /^(?:ping|traceroute)$/;

/** Splits what a person typed into the two fields of the interface: `/ip address print where dynamic=no`. */
export function splitCommand(line: string): TypedCommand {
  const words = line.trim().split(/\s+/);
  let end = words.findIndex((word, index) => index > 0 && (word.includes('=') || word.startsWith('?') || word === 'where'));
  if (end === -1) end = words.length;
  const verb = words.slice(0, end).findIndex((word) => VERBS.has(lastOf(word)));
  if (verb !== -1) end = verb + 1;
  return { command: words.slice(0, end).join(' '), parameters: named(lastOf(words[end - 1]!), words.slice(end)).join(' ') };
}

/** `/ping 192.0.2.1` means `address=192.0.2.1`. */
function named(last: string, [first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  return [ADDRESSED.test(last) && !/[=?]/.test(first) ? `address=${first}` : first, ...others];
}

/** `/ip/address/print` is `print`. */
function lastOf(word: string): string {
  return word.split('/').at(-1)!;
}

/** What makes commands end that would run until somebody stops them, by their last word. */
const ENDS: readonly { last: RegExp; word: string }[] = [
  { last: /^(?:ping|arp-ping|flood-ping)$/, word: 'count=4' },
  { last: /^traceroute$/, word: 'count=1' },
  { last: /^monitor(?:-traffic)?$/, word: 'once' },
  { last: /^(?:profile|torch|scan)$/, word: 'duration=5' },
];

/** The same command with what makes it end; undefined where it has that, or ends by itself. */
export function endingOf(line: string): string | undefined {
  const { command, parameters } = splitCommand(line);
  const end = ENDS.find(({ last }) => last.test(lastOf(command.split(' ').at(-1)!)));
  if (end === undefined || /(?:^|\s)(?:count|once|duration)\b/.test(parameters)) return undefined;
  return [command, parameters, end.word].filter(Boolean).join(' ');
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
