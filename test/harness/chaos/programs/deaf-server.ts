/** Deliberately broken: a control plane that ignores errors of its database connections. */
import { Client } from 'pg';

const on = Client.prototype.on;
Client.prototype.on = function withoutErrors(this: Client, ...args: Parameters<typeof on>) {
  return (args[0] as string) === 'error' ? this : on.apply(this, args);
};

await import('./server.ts');
