import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hasPython, TerminalSession } from '../harness/terminal-session.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** `signalbox terminal` as its own process on a real terminal, with everything behind it. */
describe.runIf(hasPython)('signalbox terminal on a real terminal', () => {
  let world: World;
  let session: TerminalSession | undefined;
  beforeAll(async () => {
    world = await World.start({ terminal: 'full' });
    await world.routerIds();
  });
  afterEach(async () => {
    await session?.close();
    session = undefined;
  });
  afterAll(() => world.close());

  const start = (...words: string[]): TerminalSession => {
    session = new TerminalSession(80, 24, { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey }, words);
    return session;
  };
  interface Shown {
    id: string;
    status: string;
    reason: string;
    level: string;
    end_reason: string | null;
  }
  const newest = async (): Promise<Shown> => {
    const { body } = await world.caller.call<{ data: Shown[] }>('GET', '/api/terminals?limit=1');
    return body.data[0]!;
  };
  /** The program ends with the terminal's last output; its record may be written a little later. */
  const isOver = (end: string): Promise<unknown> => waitUntil(`it is over: ${end}`, async () => (await newest()).end_reason === end);

  test('passes keys and output through, follows a resize, and leaves the terminal as it was', async () => {
    const terminal = start('terminal', 'router-0', '--reason', 'a test looks at it');
    await terminal.shows('~. ends this terminal');
    await terminal.shows('[term-read@router-0] >');
    terminal.press(':put "typed here"\r');
    await terminal.shows('typed here');
    terminal.resize(132, 43);
    // The new size is on its way before what is typed after it.
    terminal.press(':put "in the new size"\r');
    await terminal.shows('in the new size');
    terminal.press('quit\r');
    expect(await terminal.end()).toBe(0);
    expect(terminal.settings.at(-1)).toEqual(terminal.settings[0]);
    await isOver('exited');
    expect(await newest()).toMatchObject({ level: 'read', reason: 'a test looks at it' });
    const { body } = await world.caller.call<string>('GET', `/api/terminals/${(await newest()).id}/recording`);
    expect(body).toContain('"r","132x43"');
  });

  test('asks for the reason, and ~. ends it', async () => {
    const terminal = start('terminal', 'router-0', '--level', 'full');
    await terminal.shows('Reason');
    terminal.press('ticket 7\r');
    await terminal.shows('[term-full@router-0] >');
    terminal.press('\r~.');
    expect(await terminal.end()).toBe(0);
    expect(terminal.output).toContain('the terminal is ended');
    await isOver('closed');
    expect(await newest()).toMatchObject({ status: 'ended', reason: 'ticket 7', level: 'full' });
  });

  test('~& leaves it open; the next call attaches to it again', async () => {
    const first = start('terminal', 'router-0', '--reason', 'one and the same');
    await first.shows('[term-read@router-0] >');
    first.press(':put "before"\r');
    await first.shows('before');
    first.press('~&');
    expect(await first.end()).toBe(0);
    const { id } = await newest();
    const second = start('terminal', 'router-0', '--reason', 'another');
    await second.shows('attaching to it');
    await second.shows('before');
    second.press('quit\r');
    expect(await second.end()).toBe(0);
    await isOver('exited');
    expect((await newest()).id).toBe(id);
  });

  test('goes on by itself after a restart of the control plane', async () => {
    const terminal = start('terminal', 'router-0', '--reason', 'a restart');
    await terminal.shows('[term-read@router-0] >');
    await world.restartServer();
    await waitUntil('it says so', async () => terminal.output.includes('the connection is lost'));
    await waitUntil('it is attached again', async () => {
      const { body } = await world.caller.call<{ data: { attached: boolean; away: boolean }[] }>('GET', '/api/terminals?limit=1');
      return body.data[0]?.attached === true && !body.data[0].away;
    });
    terminal.press(':put "and on"\r');
    await terminal.shows('and on');
    terminal.press('quit\r');
    expect(await terminal.end()).toBe(0);
  });

  test('an administrator ends it; terminals lists and ends', async () => {
    const terminal = start('terminal', 'router-0', '--reason', 'to be ended');
    await terminal.shows('[term-read@router-0] >');
    const { id } = await newest();
    const list = new TerminalSession(140, 24, { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey }, ['terminals']);
    expect(await list.end()).toBe(0);
    expect(list.output).toContain(id);
    expect(list.output).toContain('to be ended');
    await list.close();
    const end = new TerminalSession(140, 24, { SIGNALBOX_SERVER: world.server.url, SIGNALBOX_KEY: world.caller.apiKey }, [
      'terminals',
      '--end',
      id,
    ]);
    expect(await end.end()).toBe(0);
    await end.close();
    expect(await terminal.end()).toBe(1);
    expect(terminal.output).toContain('its opener ended it');
    await isOver('closed');
  });

  test('says why it cannot be opened, with the exit code', async () => {
    const unknown = start('terminal', 'no-such-router', '--reason', 'a try');
    expect(await unknown.end()).toBe(1);
    expect(unknown.output).toContain('router no-such-router not found');
  });
});
