/** How RouterOS says no, as text of its console: SSH exec answers mistakes with exit status 0. Pure. */

/** At the start of a line. */
const REFUSAL =
  /^(?:expected [\w ]+ \(line|syntax error|bad command name|bad parameter|no such (?:item|command)|invalid value|input does not match|failure:|script error:|not enough permissions|interrupted|ambiguous value|missing value)/i;

/** An error that ended a script names its place: `… (:error; line 3)`, `… (/ip/address/add; line 1)`. */
const PLACE = /\((?:[:/][\w/.-]*); line \d+\)$/;

/** The first line of a script's output that says that something failed. */
export function failureIn(text: string): string | undefined {
  return linesOf(text).find((line) => REFUSAL.test(line) || PLACE.test(line));
}

/**
 * The first line of what a single command printed that is a refusal. Unlike {@link failureIn} it does not look at the ends of lines:
 * there may be anything in a value, such as the host name of a device.
 */
export function refusalIn(text: string): string | undefined {
  return linesOf(text).find((line) => REFUSAL.test(line));
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trimEnd());
}

/**
 * What `:put [:parse …]` printed for a source that will not run, undefined for one that will. The oracle is the printed
 * value: `:parse` never throws. The source itself is echoed in a good answer, so only whole forms count.
 */
export function syntaxErrorIn(parsed: string): string | undefined {
  const text = parsed.trim();
  const plain = /^(?:expected [\w ,"'-]+|syntax error|bad command name \S+|bad parameter \S+) \(line \d+ column \d+\)/.exec(text);
  if (plain) return plain[0];
  const menu = /^\(<%% (bad command name \S+ \(line \d+ column \d+\))/.exec(text);
  if (menu) return menu[1];
  return /\(evl (bad (?:parameter|command name) \S+ \(line \d+ column \d+\)) ?[/)]/.exec(text)?.[1];
}
