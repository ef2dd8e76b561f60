import { ECHO, openBus } from '../cluster/bare-bus.ts';

/** Answers questions over the bus with what was asked. */
export async function startBusAnswerer({ url }: { url: string }): Promise<null> {
  const bus = await openBus(url, 'bench answerer');
  bus.answer(ECHO, (value) => Promise.resolve(value));
  return null;
}
