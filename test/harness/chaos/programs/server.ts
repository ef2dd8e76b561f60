/** The control plane as `signalbox serve` starts it, with a clock that can be set wrong: `server.ts <clock file>`. */
import '../wrong-clock.ts';
import pino from 'pino';
import { startServer } from '../../../../server/compose.ts';
import { loadConfig } from '../../../../server/config.ts';

await startServer(await loadConfig(), { log: pino({ level: 'warn' }) });
