import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../../agent/config.ts';
import { words } from '../../../console/src/pages/terminals/words.ts';

/** The page of a router whose agent opens no terminals. */

it('has the lines for the router that the document has', () => {
  const document = readFileSync(new URL('../../../docs/terminal.md', import.meta.url), 'utf8');
  expect(document).toContain(`\`\`\`routeros\n${words.off.routerLines}\n`);
});

it('has lines of agent.yaml that the agent reads', () => {
  const { terminal, routers } = parse(words.off.lines) as { terminal: string; routers: object[] };
  const login = { host: '192.168.88.1', ssh: { username: 'signalbox', password_file: 'router-1.password' } };
  const whole = {
    server: 'https://signalbox.example.net',
    credentials: 'c.json',
    state: '/s',
    terminal,
    routers: [{ ...routers[0], ...login }],
  };
  expect(parseConfig(whole, '/etc/signalbox')).toMatchObject({
    terminal: 'full',
    routers: [{ terminal: { read: { username: 'term-read' }, full: { username: 'term-full' } } }],
  });
});
