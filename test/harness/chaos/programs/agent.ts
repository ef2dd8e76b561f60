/**
 * An agent as `signalbox-agent run` starts it, with a clock that can be set wrong and short pauses between dials:
 * `agent.ts <configuration> <clock file>`.
 */
import '../wrong-clock.ts';
import { flushCompileCache } from 'node:module';
import process from 'node:process';
import pino from 'pino';
import { startAgent } from '../../../../agent/app.ts';
import { loadConfig } from '../../../../agent/config.ts';

// Kept at once: a process that is killed keeps nothing, and a hundred starts are half of the work.
flushCompileCache();
await startAgent(await loadConfig(process.argv[2]!), { log: pino({ level: 'warn' }), random: () => Math.random() / 20 });
