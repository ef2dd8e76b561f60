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

export interface Caution {
  /** Numbers of the lines that can cut the router off, from 1. */
  lines: ReadonlySet<number>;
  /** What they touch, in words and without repeats. */
  touches: readonly string[];
}

/**
 * Which lines of a script can cut the router off. It looks for menus and for words that change something; it does not run the script, so a
 * command that is put together from variables is not found. Whoever writes the script decides.
 */
export function cautionOf(script: string): Caution {
  const lines = new Set<number>();
  const touches = new Set<string>();
  let menu = '';
  let isContinued = false;
  let isRisky = false;
  for (const [index, raw] of script.split('\n').entries()) {
    const text = raw.trim();
    if (!isContinued) isRisky = false;
    if (!text.startsWith('#')) {
      for (const part of text.split(/[;{}[\]]/)) {
        const command = part.trim();
        if (command.startsWith('/')) menu = command;
        const asked = command.startsWith('/') ? command : `${menu} ${command}`;
        const touched = touchedBy(asked, command);
        if (touched === undefined) continue;
        isRisky = true;
        touches.add(touched);
      }
      if (isRisky) lines.add(index + 1);
    }
    isContinued = text.endsWith('\\');
  }
  return { lines, touches: [...touches] };
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
