/** The control plane as `signalbox serve` runs it, with a clock that can be set wrong: `server.ts <clock file>`. */
import '../../chaos/wrong-clock.ts';
import { flushCompileCache } from 'node:module';
import process from 'node:process';
import { serve } from '../../../../server/cli/serve.ts';
import { loadConfig } from '../../../../server/config.ts';

// Kept at once: a process that is killed keeps nothing.
flushCompileCache();
await serve(await loadConfig(), { complain: (text) => void process.stderr.write(`${text}\n`) });
