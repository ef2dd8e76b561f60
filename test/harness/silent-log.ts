import type { Log } from '../../server/platform/core/log.ts';

const nothing = (): void => undefined;

/** A log that discards everything. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
