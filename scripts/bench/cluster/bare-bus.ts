import { systemTimers } from '../../../runtime/timers.ts';
import { readBusUrl } from '../../../server/config-values.ts';
import { NatsBus } from '../../../server/platform/bus/nats-bus.ts';
import { BenchProcess } from '../processes.ts';
import { quietLog } from '../quiet-log.ts';

export const ECHO = 'signalbox.bench.echo';
const CONNECTED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** Of one question, long past. */
const ANSWER_MS = 5000;
/** As long as a short command with its answer. */
const QUESTION = { text: 'x'.repeat(200) };

/** @throws Error when the bus cannot be reached */
export async function openBus(url: string, name: string): Promise<NatsBus> {
  const servers = readBusUrl(url);
  if (!servers) throw new Error(`${url} is no address of a bus`);
  const bus = NatsBus.open({ ...servers, name, timers: systemTimers, log: quietLog });
  for (let waitedMs = 0; !bus.isConnected; waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > CONNECTED_WITHIN_MS) throw new Error('the bus cannot be reached');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return bus;
}

/**
 * What a question to another process costs when it does nothing there: the least that a command to an agent of another node can add.
 * @returns milliseconds of each, one after the other, for so long
 */
export async function bareQuestions(url: string, ms: number): Promise<number[]> {
  const answerer = await BenchProcess.start('bus-answerer', { url });
  const bus = await openBus(url, 'bench');
  const times: number[] = [];
  try {
    const endsAt = performance.now() + ms;
    while (performance.now() < endsAt) {
      const askedAt = performance.now();
      await bus.ask(ECHO, QUESTION, { timeoutMs: ANSWER_MS });
      times.push(performance.now() - askedAt);
    }
    return times;
  } finally {
    await bus.close();
    await answerer.process.stop();
  }
}
