import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { GUARD_POLICIES, grantLine, parsePolicies } from '../../../agent/core/user-policies.ts';
import { userLines } from '../../../console/src/pages/settings/first/commands.ts';
import { setupLines } from '../../../server/cli/router-setup/index.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const setup = { serverUrl: 'https://signalbox.example.net', enrolToken: 'T0ken', name: 'edge', disk: 'disk1' };

describe('the lines that make a user for the agent', () => {
  /** Every place that prints them. */
  const PLACES: Record<string, string> = {
    'SECURITY.md': read('SECURITY.md').replace(/policies `/, 'policy='),
    'docs/agent.md': read('docs/agent.md'),
    'the page of a new agent': userLines('secret'),
    'enrol-token create --routeros': setupLines(setup).join('\n'),
  };

  it.each(Object.entries(PLACES))('in %s grant what the agent and its undo guards need', (_place, text) => {
    const granted = parsePolicies(/policy=([a-z,]+)/.exec(text)?.[1] ?? '');
    expect(granted).toEqual(new Set([...GUARD_POLICIES, 'api', 'ssh']));
  });
});

test.each([
  ['read,write,!ftp,api', ['read', 'write', 'api']],
  ['local;telnet;!ssh', ['local', 'telnet']],
  ['', []],
])('policies are read as the API and as a console print them: %s', (text, granted) => {
  expect([...parsePolicies(text)]).toEqual(granted);
});

test('the line that grants a policy keeps those that are there', () => {
  const own = { group: 'signalbox', policies: new Set(['read', 'api']) };
  expect(grantLine(own, ['reboot', 'read'])).toBe('/user/group/set signalbox policy=read,api,reboot');
  expect(grantLine({ ...own, group: 'a "b"' }, ['reboot'])).toBe(String.raw`/user/group/set "a \22b\22" policy=read,api,reboot`);
});
