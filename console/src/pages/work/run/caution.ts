/** Menus whose change can cut the router off from whoever changes it, and what they are called in a sentence. */
const CUTS_OFF: readonly [RegExp, string][] = [
  [/^\/?ip[ /](?:address|dhcp-client|vrf)\b|^\/?ipv6[ /]address\b/, 'addresses'],
  [/^\/?(?:ip|ipv6)[ /](?:route|settings)\b|^\/?routing\b/, 'routes'],
  [/^\/?(?:ip|ipv6)[ /]firewall\b|^\/?ip[ /]ipsec\b|^\/?interface[ /]bridge[ /]filter\b/, 'the firewall'],
  [/^\/?interface\b/, 'interfaces'],
  [/^\/?ip[ /](?:service|ssh)\b|^\/?user\b|^\/?ppp\b|^\/?certificate\b/, 'services and logins'],
  [/^\/?system[ /](?:reset-configuration|backup[ /]load)\b|^\/?import\b|^\/?system[ /]script[ /]run\b/, 'the whole configuration'],
];

/** Words that change something. */
const CHANGES = /(?:^|[ /(])(?:add|set|remove|disable|enable|unset|move|reset|reset-configuration|import|load|run|renew|release)\b/;

/**
 * `set` of one item with a comment and nothing else, up to the end of the command: it cuts nobody off. The item stays to be looked at, because
 * it may be an expression, and a comment that is one is not matched.
 */
const COMMENTED =
  /\bset[ ]+((?:numbers=)?(?:\[[^\][]*\]|"[^"\\$]*"|[^\s=;{}[\]"]+))[ ]+comment=(?:"(?:[^"\\$]|\\.|\$(?!\[))*"|[^\s;{}[\]"()]*)[ ]*(?=$|[;}])/g;

/** What a command does that takes the router away, or what it holds. */
export type Deed = 'reset' | 'load' | 'shutdown' | 'format' | 'install' | 'downgrade' | 'firmware' | 'reboot';

/** The last word of each such command, and its whole path; the worst first. */
const DEEDS: readonly [Deed, string, string][] = [
  ['reset', 'reset-configuration', 'sys(?:tem)?[ /]+reset-configuration'],
  ['load', 'load', 'sys(?:tem)?[ /]+backup[ /]+load'],
  ['shutdown', 'shutdown', 'sys(?:tem)?[ /]+shutdown'],
  ['format', 'format|format-drive', 'disk[ /]+(?:format|format-drive)'],
  ['downgrade', 'downgrade', 'sys(?:tem)?[ /]+package[ /]+downgrade'],
  ['install', 'install|upgrade|apply-changes', 'sys(?:tem)?[ /]+package[ /]+(?:update[ /]+install|local-update[ /]+upgrade|apply-changes)'],
  ['firmware', 'upgrade', 'sys(?:tem)?[ /]+routerboard[ /]+upgrade'],
  ['reboot', 'reboot', 'sys(?:tem)?[ /]+reboot'],
];

const DEED_TESTS = DEEDS.map(([deed, last, path]) => ({
  deed,
  says: new RegExp(`(?:^|[ /])(?:${last})(?![-\\w])`),
  // A script in quotes, such as that of `:execute`, begins with a slash.
  is: new RegExp(`^/?[ ]*(?:${path})(?![-\\w])|["'(][ ]*/[ ]*(?:${path})(?![-\\w])`),
}));

/** No undo guard helps against these: the guard is a part of the configuration that they replace. */
const BEYOND_GUARD: readonly Deed[] = ['reset', 'load'];

export interface Caution {
  /** Numbers of the lines that can cut the router off, from 1. */
  lines: ReadonlySet<number>;
  /** What they touch, in words and without repeats. */
  touches: readonly string[];
  /** What takes the router away, or what it holds, the worst first. */
  deeds: readonly Deed[];
  /** Useless: something removes it. Otherwise it is wanted where something can cut the router off. */
  guard: 'wanted' | 'useless' | 'not_needed';
}

/**
 * Which lines of a script can cut the router off. It looks for menus and for words that change something; it does not run the script, so a
 * command that is put together from variables is not found. Whoever writes the script decides.
 */
export function cautionOf(script: string): Caution {
  const lines = new Set<number>();
  const touches = new Set<string>();
  const deeds = new Set<Deed>();
  let menu = '';
  let isContinued = false;
  let isRisky = false;
  for (const [index, raw] of script.split('\n').entries()) {
    const text = raw.trim();
    if (!isContinued) isRisky = false;
    if (!text.startsWith('#')) {
      for (const part of text.replaceAll(COMMENTED, '$1').split(/[;{}[\]]/)) {
        const command = part.trim();
        if (command.startsWith('/')) menu = command;
        const asked = command.startsWith('/') ? command : `${menu} ${command}`;
        const touched = touchedBy(asked, command);
        const deed = deedOf(asked, command);
        if (deed !== undefined) deeds.add(deed);
        if (touched !== undefined) touches.add(touched);
        isRisky ||= deed !== undefined || touched !== undefined;
      }
      if (isRisky) lines.add(index + 1);
    }
    isContinued = text.endsWith('\\');
  }
  const guard = BEYOND_GUARD.some((deed) => deeds.has(deed)) ? 'useless' : touches.size > 0 ? 'wanted' : 'not_needed';
  return { lines, touches: [...touches], deeds: DEEDS.map(([deed]) => deed).filter((deed) => deeds.has(deed)), guard };
}

function deedOf(asked: string, command: string): Deed | undefined {
  return DEED_TESTS.find(({ says, is }) => says.test(command) && is.test(command.startsWith(':') ? command : asked))?.deed;
}

function touchedBy(asked: string, command: string): string | undefined {
  // Commands of the language, such as `:local`, change nothing; what they enclose is a part of its own.
  if (command.startsWith(':') || !CHANGES.test(command)) return undefined;
  return CUTS_OFF.find(([menus]) => menus.test(asked))?.[1];
}

/** Menus that a script changes, as `print` commands: what to look at when nobody knows whether it ran. */
export function checksOf(script: string): string[] {
  const checks = new Set<string>();
  let menu = '';
  for (const line of script.split('\n')) {
    if (line.trim().startsWith('#')) continue;
    for (const part of line.split(/[;{}[\]]/)) {
      const command = part.trim();
      if (command.startsWith('/')) menu = command;
      if (command.startsWith(':') || !CHANGES.test(command)) continue;
      const path = menu.split(/\s(?:add|set|remove|disable|enable|unset|move|reset|print|find|get)\b/)[0]!.trim();
      if (path.startsWith('/')) checks.add(`${path.replaceAll(/[ /]+/g, '/')}/print`);
    }
  }
  return [...checks];
}
