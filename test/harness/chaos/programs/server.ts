/** The control plane as `signalbox serve` starts it, with a clock that can be set wrong: `server.ts <clock file>`. */
import '../wrong-clock.ts';
import { flushCompileCache } from 'node:module';
import pino from 'pino';
import { startServer } from '../../../../server/compose/start.ts';
import { loadConfig } from '../../../../server/config.ts';

// Kept at once: a process that is killed keeps nothing, and a hundred starts are half of the work.
flushCompileCache();
await startServer(await loadConfig(), { log: pino({ level: 'warn' }) });
