import { afterEach, beforeEach, expect, it } from 'vitest';
import { SilenceTest, type TestedSession } from '../../../agent/routers/ssh/silence-test.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

/** Why a request stays unanswered: the target, the whole router, or a session that the router has lost. */

let clock: ManualClock;
let happened: string[];
let session: { bytesReceived: number; answersPings: boolean; greets: boolean };
let test: SilenceTest;

beforeEach(() => {
  clock = new ManualClock();
  happened = [];
  session = { bytesReceived: 1000, answersPings: false, greets: false };
  const tested: TestedSession = {
    bytesReceived: () => session.bytesReceived,
    ping: () => {
      happened.push('ping');
      if (session.answersPings) session.bytesReceived += 50;
    },
    greetsAfresh: async () => {
      happened.push('dial');
      return session.greets;
    },
    forgotten: () => happened.push('forgotten'),
  };
  test = new SilenceTest(tested, clock);
});

afterEach(() => test.stop());

async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds * 10; i += 1) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('a fast answer causes no test', async () => {
  const answered = test.expectAnswer();
  await pass(0.9);
  answered();
  await pass(10);
  expect(happened).toEqual([]);
});

it('a target that does not answer does not end the session, because the router answers the ping', async () => {
  session.answersPings = true;
  test.expectAnswer();
  await pass(10);
  expect(happened).toEqual(['ping']);
});

it('a router that greets a new connection but is silent on the old one has lost it', async () => {
  session.greets = true;
  test.expectAnswer();
  test.expectAnswer();
  await pass(3);
  expect(happened).toEqual(['ping', 'dial', 'forgotten']);
});

it('an unreachable router is tested again until it is back or no request waits, and nothing is ended', async () => {
  const givenUp = test.expectAnswer();
  await pass(5.5);
  expect(happened).toEqual(['ping', 'dial', 'ping', 'dial', 'ping']);
  givenUp();
  await pass(10);
  expect(happened.slice(5)).toEqual(['dial']);
  session.greets = true;
  test.expectAnswer();
  await pass(3);
  expect(happened.at(-1)).toBe('forgotten');
});

it('an answer while the new connection is dialled counts', async () => {
  session.greets = true;
  const answered = test.expectAnswer();
  await pass(2.9);
  session.bytesReceived += 1;
  await pass(2);
  expect(happened).toEqual(['ping']);
  answered();
});

it('ends with the session', async () => {
  session.greets = true;
  test.expectAnswer();
  await pass(1.5);
  test.stop();
  await pass(10);
  expect(happened).not.toContain('forgotten');
  expect(clock.pending).toBe(0);
});
