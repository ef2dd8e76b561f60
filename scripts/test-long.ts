/** `npm run test:long`: the tests that take too long for every commit. Arguments go to vitest: `-- chaos` runs only that. */
import { spawn } from 'node:child_process';
import process from 'node:process';

const child = spawn('vitest', ['run', '--config', 'vitest.long.config.ts', ...process.argv.slice(2)], { stdio: 'inherit' });
child.on('error', (error) => {
  process.stderr.write(`cannot start vitest: ${error.message}\n`);
  process.exitCode = 1;
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
