// Preloaded into the demo's children: when the demo dies, even by kill -9, they shut down cleanly.
import process from 'node:process';

process.channel?.unref();
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
