import { expect, it, vi } from 'vitest';
import { ConnectionError, ProblemError } from '../../../client/index.ts';
import type { ApiClient, Me, StreamEvent } from '../../../client/index.ts';
import { Who } from '../../../console/src/data/who.ts';

const me = (role: Me['role']): Me => ({ id: 'grace', role }) as Me;

/** Answers to be given later, one for each reading. */
function start(role: Me['role']): { who: Who; answers: PromiseWithResolvers<{ data: Me }>[]; told: string[] } {
  const answers: PromiseWithResolvers<{ data: Me }>[] = [];
  const api = {
    call: () => {
      const answer = Promise.withResolvers<{ data: Me }>();
      answers.push(answer);
      return answer.promise;
    },
  } as unknown as Pick<ApiClient, 'call'>;
  const told: string[] = [];
  const who = new Who(api, me(role), () => told.push('refused'));
  who.subscribe(() => told.push(who.me.role));
  return { who, answers, told };
}

it('has the new role when it was read again, and counts those that allow less', async () => {
  const { who, answers, told } = start('operator');
  for (const role of ['operator', 'admin', 'viewer', 'operator'] as const) {
    const reading = who.readAgain();
    answers.at(-1)!.resolve({ data: me(role) });
    await reading;
  }
  expect(told).toEqual(['admin', 'viewer', 'operator']);
  expect(who.lowered).toBe(1);
});

it('says nothing of the role when somebody becomes an administrator of the installation', async () => {
  const { who, answers, told } = start('viewer');
  const reading = who.readAgain();
  answers[0]!.resolve({ data: { ...me('viewer'), installation_admin: true } });
  await reading;
  expect(who.me.installation_admin).toBe(true);
  expect([told, who.change, who.lowered]).toEqual([['viewer'], undefined, 0]);
});

it('does not believe an old answer that comes after a newer one', async () => {
  const { who, answers, told } = start('viewer');
  const readings = [who.readAgain(), who.readAgain()];
  answers[1]!.resolve({ data: me('operator') });
  answers[0]!.resolve({ data: me('admin') });
  await Promise.all(readings);
  expect(told).toEqual(['operator']);
});

it('takes a missing answer for no other role, and reads again until it has one, less often each time', async () => {
  vi.useFakeTimers();
  try {
    const { who, answers, told } = start('operator');
    void who.readAgain();
    for (const [tries, waitMs] of [2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      answers[tries]!.reject(new Error('the network is down'));
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(answers).toHaveLength(tries + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(answers).toHaveLength(tries + 2);
    }
    expect(told).toEqual([]);
    answers.at(-1)!.resolve({ data: me('viewer') });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual(['viewer']);
    expect(answers).toHaveLength(7);
  } finally {
    vi.useRealTimers();
  }
});

const refused = new ProblemError(401, { code: 'unauthenticated' });

it.each([
  ['the reading', refused],
  ['the renewal of the token', new ConnectionError('no credential', false, new Error('no credential', { cause: refused }))],
])('is not read again by itself when the session is refused at %s, until a new one has an answer', async (_where, refusal) => {
  vi.useFakeTimers();
  try {
    const { who, answers, told } = start('operator');
    void who.readAgain();
    answers[0]!.reject(refusal);
    await vi.advanceTimersByTimeAsync(600_000);
    expect([answers.length, who.isRefused]).toEqual([1, true]);
    // Another reason to read: the stream is open again.
    void who.readAgain();
    answers[1]!.reject(new Error('the network is down'));
    await vi.advanceTimersByTimeAsync(2000);
    answers[2]!.resolve({ data: me('viewer') });
    await vi.advanceTimersByTimeAsync(600_000);
    expect([told, answers.length, who.isRefused]).toEqual([['refused', 'viewer'], 3, false]);
  } finally {
    vi.useRealTimers();
  }
});

it.each(['before the answer', 'after it'])('is not read any more when another session takes the tab, %s', async (moment) => {
  vi.useFakeTimers();
  try {
    const { who, answers } = start('operator');
    void who.readAgain();
    if (moment === 'before the answer') who.end();
    answers[0]!.reject(new Error('the network is down'));
    await vi.advanceTimersByTimeAsync(1000);
    who.end();
    await vi.advanceTimersByTimeAsync(600_000);
    void who.readAgain();
    expect(answers).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

it('says what became of the role until the person has noted it', async () => {
  const { who, answers } = start('admin');
  for (const role of ['viewer', 'operator'] as const) {
    const reading = who.readAgain();
    answers.at(-1)!.resolve({ data: me(role) });
    await reading;
    expect(who.change).toEqual({ role, isLower: role === 'viewer' });
  }
  who.noteChange();
  expect(who.change).toBeUndefined();
});

it('is concerned by what is said of its own membership, and by lost events', () => {
  const { who } = start('viewer');
  const event = (type: StreamEvent['type'], data: StreamEvent['data'] = {}): StreamEvent => ({ id: '1', type, data });
  expect(who.isConcerned(event('member.updated', { user_id: 'grace' }))).toBe(true);
  expect(who.isConcerned(event('member.updated', { user_id: 'ada' }))).toBe(false);
  expect(who.isConcerned(event('resync'))).toBe(true);
  expect(who.isConcerned(event('job.completed', { user_id: 'grace' }))).toBe(false);
});
