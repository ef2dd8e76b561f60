import process from 'node:process';
import { startServer } from '../../../server/compose/start.ts';
import { loadConfig } from '../../../server/config.ts';

// A control plane as one of several, in a process of its own, without web application and agent release.
const config = await loadConfig();
const server = await startServer(config, {
  consoleFiles: null,
  agentRelease: null,
  onLost: (error) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
});
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.stdout.write(`ready at ${server.url}\n`);
