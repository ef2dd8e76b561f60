/**
 * One process of a benchmark. `scripts/bench/processes.ts` starts it with the name of a part; parts and their parent
 * talk over Node's IPC: one `start` with the part's options, then any number of `cpu` and `ask`.
 */
import process from 'node:process';
import type { AnsweringPart } from './answering-part.ts';

type Part = (options: never) => Promise<unknown>;

let asked: ((question: unknown) => unknown) | undefined;

/** Loaded on demand, so that a relay process contains nothing but the relay. */
const parts: Record<string, () => Promise<Part>> = {
  source: async () => (await import('./parts/bulk.ts')).startSource,
  drain: async () => (await import('./parts/bulk.ts')).startDrain,
  relay: async () => (await import('./parts/relay.ts')).startRelayHop,
  line: async () => (await import('./parts/line.ts')).startLine,
  server: async () => (await import('./parts/server.ts')).startServerPart,
  'lists-server': async () => (await import('./parts/lists-server.ts')).startListsServerPart,
  'console-server': async () => (await import('./parts/console-server.ts')).startConsoleServerPart,
  'jobs-server': async () => (await import('./parts/jobs-server.ts')).startJobsServerPart,
  fleet: async () => (await import('./parts/fleet.ts')).startFleetPart,
  'bare-server': async () => (await import('./parts/bare-server.ts')).startBareServer,
  'bus-answerer': async () => (await import('./parts/bus-answerer.ts')).startBusAnswerer,
  agent: async () => (await import('./parts/agent.ts')).startAgentPart,
  'site-routers': async () => (await import('./parts/site-routers.ts')).startSiteRouters,
  'terminal-client': async () => (await import('./parts/terminal-client.ts')).startTerminalClientPart,
  simulator: async () => (await import('./parts/simulator.ts')).startSimulatorPart,
  'recording-simulator': async () => (await import('./parts/recording-simulator.ts')).startRecordingSimulatorPart,
};

interface Call {
  id: number;
  method: 'start' | 'cpu' | 'ask';
  part?: string;
  options?: unknown;
  question?: unknown;
}

async function answer(call: Call): Promise<unknown> {
  if (call.method === 'cpu') {
    const { user, system } = process.cpuUsage();
    return { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
  }
  if (call.method === 'ask') return asked?.(call.question);
  const load = parts[call.part ?? ''];
  if (!load) throw new Error(`no part named ${call.part}`);
  const start = await load();
  const started = await start(call.options as never);
  if (typeof started !== 'object' || started === null || !('ask' in started)) return started;
  const part = started as AnsweringPart<unknown, unknown, unknown>;
  asked = (question) => part.ask(question);
  return part.result;
}

process.on('message', (call: Call) => {
  answer(call).then(
    (result) => process.send?.({ id: call.id, result: result ?? null }),
    (error: unknown) => process.send?.({ id: call.id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// The channel closes however the parent dies.
process.on('disconnect', () => process.exit(0));
