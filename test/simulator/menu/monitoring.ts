/** Commands that sample something again and again: monitor, monitor-traffic. */
import { parseDuration } from '../formats.ts';
import type { RouterState } from '../state.ts';
import type { CustomCommand, MenuContext } from './definition.ts';
import { Trap, type CommandResult, type Row } from './types.ts';

const FLAGS = ['once', 'interval', 'duration', 'as-value', 'append', 'do', 'file', 'without-paging', 'freeze-frame-interval'];

/**
 * A command that sends a sample every `interval` (1 s), numbered by `.section`: one with `once`, as many as fit into
 * `duration`, or until it is interrupted.
 */
export function monitor(names: readonly string[], sample: (context: MenuContext) => Row[]): CustomCommand {
  return {
    parameters: [...FLAGS, ...names],
    policies: ['read'],
    async run(context): Promise<CommandResult> {
      const { router, call } = context;
      if (call.attributes.has('once') || !call.onRow) return { rows: sample(context) };
      const interval = parseDuration(call.attributes.get('interval') ?? '1s') ?? 1000;
      const until = router.time.now() + (parseDuration(call.attributes.get('duration') ?? '') ?? Infinity);
      for (let section = 0; ; section += 1) {
        for (const row of sample(context)) call.onRow(new Map([...row, ['.section', String(section)]]));
        if (router.time.now() + interval > until) return { rows: [] };
        await pause(router, interval, call.session.signal);
      }
    },
  };
}

/** Waits by the router's time; rejects with RouterOS's trap when the command is interrupted. */
export function pause(router: RouterState, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Trap('interrupted', 2));
    const interrupt = (): void => {
      cancel();
      reject(new Trap('interrupted', 2));
    };
    const cancel = router.time.after(ms, () => {
      signal.removeEventListener('abort', interrupt);
      resolve();
    });
    signal.addEventListener('abort', interrupt, { once: true });
  });
}
