/** The script language, joined to a router: its version, clock, files and global variables. */
import type { ScriptEngine } from './menu/types.ts';
import type { SimulatedRouter } from './router.ts';
import { createScriptEngine } from './script/engine.ts';
import type { Value } from './script/values.ts';

export function createScripts(router: SimulatedRouter): ScriptEngine {
  return createScriptEngine(router.menus, {
    version: router.version.text,
    globals: (user) => globalsOf(router, user),
    sleep: (ms, signal) => sleep(router, ms, signal),
    now: () => router.clock.utcMs(),
    saveFile: (name, contents) => void router.files.write(name, contents),
  });
}

function globalsOf(router: SimulatedRouter, user: string): Map<string, Value> {
  const known = (router.globals.get(user) ?? new Map()) as Map<string, Value>;
  router.globals.set(user, known);
  return known;
}

/** Waits by the router's time source; ends early when the signal aborts. */
function sleep(router: SimulatedRouter, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const wake = (): void => {
      cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = router.time.after(ms, wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}
