import { helpRows } from '../../runtime/help-rows.ts';
import { SERVER_VERSION } from '../version.ts';
import { FIRST_ACCOUNT } from '../built.ts';
import type { Unbuilt } from './unbuilt.ts';

/** What a person at a terminal needs to know of a control plane that has started. */
export interface Started {
  /** Under which people open it. */
  publicUrl: string;
  /** Of the plant demonstration; null when it is off. */
  sandboxUrl: string | null;
  /** To the page that makes the first account; undefined once somebody can sign in. */
  setupLink: string | undefined;
  /** What a clone has not built. */
  unbuilt: readonly Unbuilt[];
}

/** Printed by `serve` on a terminal, besides the log. */
export function banner({ publicUrl, sandboxUrl, setupLink, unbuilt }: Started): string {
  const addresses: (readonly [string, string])[] = [['Open in a browser', publicUrl]];
  if (sandboxUrl !== null)
    addresses.push([
      'For programs only',
      `${sandboxUrl} (one operation to try a program with, no page; SIGNALBOX_SANDBOX_LISTEN= turns it off)`,
    ]);
  addresses.push(['Stop it', 'Ctrl C']);
  return [
    '',
    `Signalbox ${SERVER_VERSION} is running.`,
    '',
    helpRows(addresses).join(''),
    ...(unbuilt.length === 0 ? [] : [notBuilt(unbuilt)]),
    setupLink === undefined ? '' : firstAccount(setupLink),
  ].join('\n');
}

/** Without these, the address above leads to no page, or the page to no agent. */
function notBuilt(unbuilt: readonly Unbuilt[]): string {
  return [
    'This clone lacks some parts. Build them, then start it again:',
    '',
    helpRows(unbuilt.map(({ part, command }) => [`  ${command}`, part])).join(''),
  ].join('\n');
}

/** Where there is nobody who could sign in. The link is printed here only: what is logged is kept and read by others. */
function firstAccount(setupLink: string): string {
  return [
    'Nobody has an account yet. This link makes the first team and its administrator, once:',
    '',
    `  ${setupLink}`,
    '',
    'Or, in another terminal, with the same settings and in the same folder:',
    '',
    ...FIRST_ACCOUNT.map((line) => `  ${line}`),
    '',
    '',
  ].join('\n');
}
