import type { Origin, ScriptResult, Session } from '../../simulator/menu/types.ts';
import { createScriptEngine, type ScriptEngineOptions } from '../../simulator/script/engine.ts';
import { FakeMenus } from './fake-menus.ts';

export interface Ran extends ScriptResult {
  /** What a terminal would show, with bare line feeds for reading. */
  output: string;
}

export interface Bench {
  readonly menus: FakeMenus;
  run(source: string, session?: Partial<Session>): Promise<Ran>;
}

/** A script engine over fake menus; each `run` is one script of one session. */
export function createBench(options: ScriptEngineOptions = {}): Bench {
  const menus = new FakeMenus();
  const engine = createScriptEngine(menus, { sleep: () => Promise.resolve(), ...options });
  return {
    menus,
    run: async (source, session) => {
      let output = '';
      const result = await engine.run(source, { ...createSession(), ...session }, (text) => {
        output += text;
      });
      return { ...result, output: output.replaceAll('\r\n', '\n') };
    },
  };
}

export function createSession(origin: Origin = 'script'): Session {
  return { user: 'admin', policies: new Set(['read', 'write', 'policy', 'test']), origin, signal: new AbortController().signal };
}
