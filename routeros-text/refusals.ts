/** RouterOS errors as console text: SSH exec reports errors with exit status 0. Pure. */

/** At the start of a line. */
const REFUSAL =
  /^(?:expected [\w ]+ \(line|syntax error|bad command name|bad parameter|no such (?:item|command)|invalid value|input does not match|failure:|script error:|not enough permissions|interrupted|ambiguous value|missing value)/i;

/** An error that ended a script names its position: `… (:error; line 3)`, `… (/ip/address/add; line 1)`. */
const PLACE = /\((?:[:/][\w/.-]*); line \d+\)$/;

/** The router refused because the user lacks a policy; it does not say which one. */
export function lacksPolicies(message: string): boolean {
  return /^not enough permissions/i.test(message);
}

/** The first line of a script's output that reports an error. */
export function failureIn(text: string): string | undefined {
  return linesOf(text).find((line) => REFUSAL.test(line) || PLACE.test(line));
}

/**
 * The first line of a single command's output that is a refusal. Unlike {@link failureIn} it ignores the ends of lines, because a
 * value may hold any text, such as the host name of a device.
 */
export function refusalIn(text: string): string | undefined {
  return linesOf(text).find((line) => REFUSAL.test(line));
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trimEnd());
}

/**
 * The syntax error in the output of `:put [:parse …]`, undefined when the source is valid. Only the printed value shows it, because
 * `:parse` never fails. A valid result echoes the source, so only complete forms of an error count.
 */
export function syntaxErrorIn(parsed: string): string | undefined {
  const text = parsed.trim();
  const plain = /^(?:expected [\w ,"'-]+|syntax error|bad command name \S+|bad parameter \S+) \(line \d+ column \d+\)/.exec(text);
  if (plain) return plain[0];
  const menu = /^\(<%% (bad command name \S+ \(line \d+ column \d+\))/.exec(text);
  if (menu) return menu[1];
  return /\(evl (bad (?:parameter|command name) \S+ \(line \d+ column \d+\)) ?[/)]/.exec(text)?.[1];
}
