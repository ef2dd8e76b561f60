import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FLEET_KEY, FleetApi } from '../harness/fleet-api.ts';
import { hasPython, TerminalSession } from '../harness/terminal-session.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** `signalbox top` as its own process on a real terminal: sizes, signals, and what it leaves behind. */

describe.runIf(hasPython)('signalbox top on a real terminal', () => {
  let api: FleetApi;
  let session: TerminalSession;
  const env = (): Record<string, string> => ({ SIGNALBOX_SERVER: api.url, SIGNALBOX_KEY: FLEET_KEY });
  beforeEach(async () => {
    api = await FleetApi.start({ routers: 50, down: 12, work: 2 });
  });
  afterEach(async () => {
    await session.close();
    await api.close();
  });

  test.each([
    ['q', 'q', 0],
    ['Ctrl-C', '\u0003', 130],
  ])('draws in 80 x 24, follows a resize, and %s leaves the terminal as it was', async (_name, key, code) => {
    session = new TerminalSession(80, 24, env(), ['top']);
    await session.shows('live');
    await session.shows('Not answering (12)');
    session.press('xyz');
    session.resize(140, 50);
    // The last of twelve: there was no room for it.
    await session.shows('gw-11');
    session.press(key);
    expect(await session.end()).toBe(code);
    expect(session.terminal).toMatchObject({ isOtherScreen: false, hasCursor: true, wraps: true, isStyled: false });
    // Echo, line editing and signals are as before; the keys that were pressed were never shown.
    expect(session.settings.at(-1)).toEqual(session.settings[0]);
    expect(session.output).not.toContain('xyz');
  });

  test('without colour and on a terminal that cannot move its cursor', async () => {
    session = new TerminalSession(80, 24, { ...env(), NO_COLOR: '1' }, ['top']);
    await session.shows('Not answering (12)');
    for (const style of ['1', '2', '31', '32', '33']) expect(session.output).not.toContain(`\u001b[${style}m`);
    session.press('q');
    expect(await session.end()).toBe(0);
    await session.close();
    session = new TerminalSession(140, 24, { ...env(), TERM: 'dumb' }, ['top']);
    await waitUntil('the counts are printed', () => session.output.includes('Routers 50 (answering 38'));
    expect(session.output.replaceAll('\r\n', '')).not.toMatch(/\p{Cc}/u);
    session.press('\u0003');
    expect(await session.end()).toBe(130);
  });
});
