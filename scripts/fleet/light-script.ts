import type { JobResult } from '../../protocol/index.ts';
import { versionKey } from '../../routeros-text/versions.ts';
import type { RouterView } from './router-view.ts';

export interface ScriptRun {
  durationMs: number;
  result: JobResult;
  /** The router cannot be reached afterwards. */
  cutsOff: boolean;
  reboots: boolean;
  /** How many changes the router had before. */
  changesBefore: number;
}

/** Menus that came with a version of RouterOS. */
const NEWER_MENUS: readonly (readonly [RegExp, string])[] = [
  [/\/ip[ /]dns[ /]adlist/, '7.15'],
  [/\/routing[ /]bgp[ /]connection/, '7.0'],
  [/\/interface[ /]wireguard/, '7.1'],
];
const CUTS_OFF = /\/interface[^;\n]*\bdisable\b[^;\n]*ether1|chain=input[^;\n]*action=drop(?![^;\n]*in-interface)/;
const SLOWEST_MS = 3000;

/**
 * What a script would have done, read off its text: `:put` gives output, `:error` fails, `:delay` takes time, a menu that the version does not
 * know is an error, `/system reboot` leaves the end unknown, and every other line from `/` is added to the configuration.
 */
export function runScript(router: RouterView, script: string, timeoutMs: number): ScriptRun {
  const changesBefore = router.changes.length;
  const output: string[] = [];
  let error: string | null = null;
  let reboots = false;
  let durationMs = 200 + ((script.length * 7) % 800);
  for (const line of script.split(/[;\n]/).map((text) => text.trim())) {
    const missing = NEWER_MENUS.find(([menu, since]) => menu.test(line) && versionKey(router.version) < versionKey(since));
    if (missing)
      error = `bad command name ${line.split(/[ /]/).find((word) => /adlist|connection|wireguard/.test(word)) ?? ''} (line 1 column 9)`;
    else if (line.startsWith(':error')) error = unquoted(line.slice(6));
    else if (line.startsWith(':put')) output.push(unquoted(line.slice(4)).replace('[/system/identity get name]', router.identity));
    else if (line.startsWith(':delay')) durationMs += Number.parseFloat(line.slice(6)) * 1000 || 0;
    else if (/^\/system[ /]reboot/.test(line)) reboots = true;
    else if (/^\/system[ /]identity[ /]set name=/.test(line)) router.identity = unquoted(line.split('name=')[1]!);
    else if (line.startsWith('/')) router.changes.push(line);
    if (error !== null || reboots) break;
  }
  const text = output.length > 0 ? `${output.join('\n')}\n` : '';
  const base = { output: text, output_truncated: false };
  const result = ((): JobResult => {
    if (reboots)
      return { ...base, output: null, outcome: 'unknown', reason: 'router_rebooted', error: 'the router rebooted while the script ran' };
    if (durationMs > timeoutMs) return { ...base, outcome: 'unknown', reason: 'timed_out', error: 'the script did not end in time' };
    if (error !== null) return { ...base, outcome: 'failed', reason: 'script_error', error };
    return { ...base, outcome: 'completed', reason: null, error: null };
  })();
  const lasts = Math.min(durationMs, timeoutMs);
  return {
    durationMs: script.includes(':delay') ? lasts : Math.min(lasts, SLOWEST_MS),
    result,
    cutsOff: CUTS_OFF.test(script),
    reboots,
    changesBefore,
  };
}

function unquoted(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1');
}
