// Preloaded into the demo's children: when the demo is gone, even by kill -9, they end as if asked to.
import process from 'node:process';

process.channel?.unref();
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
