/**
 * Last words of commands, as the web application knows them, without `once`, which here is always a parameter:
 * `/interface/monitor ether1 once`.
 */
const VERBS = new Set(
  'print add set remove enable disable unset move export monitor get find reset flush renew release reboot shutdown check ping traceroute'.split(
    ' ',
  ),
);

/**
 * Splits the words after ROUTER into command and parameters. The shell has split `/ip address print`, which a terminal of a router takes
 * as it takes `/ip/address/print`: the words up to the verb are the command. A command in one word, or quoted, is taken as it is.
 */
export function splitWords(words: readonly string[]): { command: string; parameters: readonly string[] } {
  const [first = ''] = words;
  const isParameter = (word: string): boolean => /^[?#.]|[\s="]/.test(word) || word === 'where';
  const isVerb = (word: string): boolean => VERBS.has(word.split('/').at(-1)!);
  let end = 1;
  if (!isParameter(first) && !isVerb(first)) {
    const until = words.findIndex((word, index) => index > 0 && isParameter(word));
    const path = until === -1 ? words : words.slice(0, until);
    const verb = path.findIndex(isVerb);
    const isMenu = /^\/?[^/]+$/.test(first);
    // `/system package update check-for-updates`. After `/interface/monitor-traffic`, words without a verb are parameters.
    if (verb !== -1) end = verb + 1;
    else if (isMenu) end = path.length;
  }
  return { command: words.slice(0, end).join(' '), parameters: words.slice(end) };
}
