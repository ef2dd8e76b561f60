/**
 * Ansible's community.routeros (api, api_facts, api_info, api_modify, api_find_and_modify) against the stand-in.
 * Skipped, and said so, where Debian's packages ansible and python3-librouteros are not installed.
 */
import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startSimulator } from '../simulator/index.ts';

const ANSIBLE = '/usr/bin/ansible-playbook';
const PYTHON = '/usr/bin/python3';
const run = promisify(execFile);

function isInstalled(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import librouteros, ansible_collections.community.routeros'], { stdio: 'ignore' });
    execFileSync(ANSIBLE, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stdout.write('SKIPPED: Ansible tests need the Debian packages ansible and python3-librouteros\n');
    return false;
  }
}

// Most of their time goes into starting Python: two at a time.
describe.skipIf(!isInstalled())('community.routeros is satisfied', { concurrent: true }, () => {
  it.each([
    ['7.18.2', false],
    ['7.18.2', true],
    ['6.49.18', false],
    ['6.49.18', true],
  ] as const)(
    'with RouterOS %s, bytes split: %s',
    async (version, splitEveryByte) => {
      const simulator = await startSimulator({
        version,
        splitEveryByte,
        model: 'hEX',
        identity: 'lab',
        sshPort: null,
        users: [{ name: 'admin', password: 'secret' }],
      });
      const variables = ['-e', `ansible_python_interpreter=${PYTHON}`, '-e', `api_port=${simulator.apiPort}`];
      const playbook = path.join(import.meta.dirname, 'ansible-playbook.yml');
      const env = { ...process.env, ANSIBLE_NOCOLOR: '1', ANSIBLE_LOCALHOST_WARNING: 'false', ANSIBLE_PIPELINING: '1' };
      const done = run(ANSIBLE, ['-i', 'localhost,', '-c', 'local', ...variables, playbook], { env, timeout: 150_000 });
      const output = await done.then(
        ({ stdout }) => stdout,
        (error: { stdout?: string; message?: string }) => error.stdout ?? error.message ?? '',
      );
      expect(output).toMatch(/unreachable=0 +failed=0/);
      expect(simulator.items('/system/identity')).toEqual([{ name: 'by-ansible' }]);
      const rules = simulator.items('/ip/firewall/nat');
      expect(rules.map((rule) => rule['comment'])).toEqual(['first', 'defconf: masquerade', 'renamed']);
      expect(rules[2]).not.toHaveProperty('out-interface');
      await simulator.close();
    },
    180_000,
  );
});
