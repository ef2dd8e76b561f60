import { describe, expect, it } from 'vitest';
import type { ControlPlane } from '../../../client/index.ts';
import { ageOf, isAlone, mayDrain, sentenceOf, stateOf, whatDrains } from '../../../console/src/pages/settings/nodes/words.ts';

const node = (given: Partial<ControlPlane> = {}): ControlPlane => ({
  id: 'a',
  name: 'web-1, process 1',
  public_url: 'https://a.example.net',
  version: '1.4.0',
  state: 'up',
  tunnels: 3,
  clients: 0,
  bus_connected: true,
  beat_age_seconds: 0.84,
  started_at: '2031-05-01T08:30:00.000Z',
  answers: false,
  ...given,
});

describe('words of the page of control planes', () => {
  it.each([
    [{}, 'up', '0.8 s'],
    [{ state: 'draining' }, 'draining', '0.8 s'],
    [{ state: 'draining', tunnels: 0 }, 'drained', '0.8 s'],
    [{ beat_age_seconds: 6.9 }, 'up', '6.9 s'],
    [{ beat_age_seconds: 7 }, 'silent', '7.0 s'],
    [{ state: 'draining', beat_age_seconds: 30 }, 'silent', '30.0 s'],
    [{ beat_age_seconds: null }, 'unseen', ''],
  ] as const)('say of %j: %s, last beat %s', (given, state, age) => {
    expect([stateOf(node(given)), ageOf(node(given))]).toEqual([state, age]);
  });

  it.each([
    [[node()], '1 control plane, up.'],
    [[node(), node({ id: 'b' })], '2 control planes, all up.'],
    [
      [node(), node({ id: 'b', state: 'draining' }), node({ id: 'c', beat_age_seconds: 9 })],
      '3 control planes: 1 up, 1 draining, 1 not answering.',
    ],
    [[node(), node({ id: 'b', version: '1.5.0' })], '2 control planes, all up. They run 2 versions.'],
  ])('count them in a sentence', (nodes, sentence) => {
    expect(sentenceOf(nodes)).toBe(sentence);
  });

  it('offer a drain only while another one is up to take the work', () => {
    const [up, draining, silent] = [node(), node({ id: 'b', state: 'draining' }), node({ id: 'c', beat_age_seconds: 20 })];
    expect([mayDrain(up, [up]), mayDrain(up, [up, draining, silent]), mayDrain(draining, [up, draining])]).toEqual([false, false, false]);
    expect([mayDrain(up, [up, node({ id: 'd' })]), mayDrain(silent, [up, silent])]).toEqual([true, true]);
  });

  it('know one that serves its database alone, with an entry and without', () => {
    expect([isAlone([]), isAlone([node({ public_url: null })]), isAlone([node()])]).toEqual([true, true, false]);
  });

  it('say before a drain what becomes of agents, and of the page itself', () => {
    const said = (given: Partial<ControlPlane>) => whatDrains(node(given)).join(' ');
    expect(said({ tunnels: 1 })).toContain('Its agent is sent to the others');
    expect(said({ tunnels: 12 })).toContain('Its 12 agents are sent');
    expect(said({ tunnels: 0 })).toContain('It has no agents');
    expect([said({}), said({ answers: true })].map((text) => text.includes('answers this page'))).toEqual([false, true]);
  });
});
