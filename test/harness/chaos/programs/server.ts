/** The control plane as `signalbox serve` starts it, with a clock that can be set wrong: `server.ts <clock file>`. */
import process from 'node:process';
import pino from 'pino';
import { startServer } from '../../../../server/compose.ts';
import { loadConfig } from '../../../../server/config.ts';
import { shiftedClock } from '../shifted-clock.ts';

await startServer(await loadConfig(), { clock: shiftedClock(process.argv[2]!), log: pino({ level: 'warn' }) });
