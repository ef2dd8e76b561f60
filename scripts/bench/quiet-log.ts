import type { Log } from '../../server/platform/core/log.ts';

const show = (fields: object, message: string): void => {
  process.stderr.write(`${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.stack : value))}\n`);
};

/** Logs only warnings and errors, which must not occur during a measurement. */
export const quietLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: show, child: () => quietLog };
