/**
 * `npm test`: lint, types and the dependency rule, then every test. Arguments go to vitest
 * (`npm test -- jobs` runs the files whose name contains "jobs").
 */
import { spawn } from 'node:child_process';
import process from 'node:process';

interface Check {
  name: string;
  command: string;
  args: string[];
}

const checks: Check[] = [
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'types', command: 'tsc', args: ['--pretty', 'false'] },
  {
    name: 'dependency rule',
    command: 'depcruise',
    // Nothing may import a test, so the tests themselves are not read (their `await using` is newer than the parser).
    args: ['--output-type', 'err', 'runtime', 'routeros-text', 'protocol', 'server', 'agent', 'client', 'scripts'],
  },
];

function run(command: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

const only = process.argv.slice(2);
if (only.length === 0) {
  for (const check of checks) {
    process.stdout.write(`> ${check.name}\n`);
    const code = await run(check.command, check.args);
    if (code !== 0) {
      process.stderr.write(`${check.name} failed\n`);
      process.exit(code);
    }
  }
}
process.exitCode = await run('vitest', ['run', ...only]);
