import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Me } from '../../../client/browser.ts';
import { Tokens } from '../../../console/src/session/tokens.ts';

const me = (id: string, team: string): Me => ({ id, email: `${id}@example.org`, role: 'admin', team: { id: team, name: team } }) as Me;

describe('the access tokens of a tab', () => {
  let tokens: Tokens;
  /** Whose the session with the provider is. */
  let signedIn: Me | undefined;
  let secondsLeft: number;
  let renewals: number;
  let isAnswering: boolean;
  const denied = new Error('denied');
  let denial: Error | undefined;
  const leave = vi.fn<() => Promise<void>>(async () => undefined);

  beforeEach(() => {
    signedIn = me('ada', 'north');
    [secondsLeft, renewals, isAnswering, denial] = [30, 0, true, undefined];
    leave.mockClear();
    tokens = new Tokens({
      renew: async () => {
        renewals += 1;
        return signedIn && { access_token: `${signedIn.id} ${signedIn.team.id}`, expires_in: secondsLeft };
      },
      whoIs: async (token) => {
        if (!isAnswering) throw denial ?? new Error('no answer');
        const [id, team] = token.split(' ');
        return me(id!, team!);
      },
      denialOf: (reason) => (reason === denied ? 'you are in no team' : undefined),
      leave,
    });
    tokens.hold(me('ada', 'north'));
  });

  /** `none` for a promise that stays open. */
  const next = () => Promise.race([tokens.get(), new Promise<'none'>((resolve) => setTimeout(() => resolve('none'), 50))]);

  it('are renewed in their last minute, and not before', async () => {
    tokens.begin({ access_token: 'first', expires_in: 200 });
    expect([await next(), renewals]).toEqual(['first', 0]);
    tokens.begin({ access_token: 'first', expires_in: 50 });
    expect([await next(), renewals]).toEqual(['ada north', 1]);
    secondsLeft = 300;
    await next();
    await next();
    expect(renewals).toBe(2);
  });

  it.each([
    ['another person', me('bob', 'north')],
    ['another team', me('ada', 'south')],
  ])('end when another tab has signed in as %s, and it is said who that is', async (_what, other) => {
    const told = vi.fn<() => void>();
    tokens.subscribe(told);
    expect(await next()).toBe('ada north');
    signedIn = other;
    expect(await Promise.all([next(), next()])).toEqual(['none', 'none']);
    expect(tokens.other).toMatchObject({ id: other.id, team: { id: other.team.id } });
    expect(told).toHaveBeenCalledOnce();
    signedIn = me('ada', 'north');
    expect(await next()).toBe('none');
  });

  it('are not given out while nobody can say whose they are', async () => {
    isAnswering = false;
    await expect(tokens.get()).rejects.toThrow('no answer');
    isAnswering = true;
    expect(await next()).toBe('ada north');
  });

  it('end when signing in is denied, and it is said why', async () => {
    const told = vi.fn<() => void>();
    tokens.subscribe(told);
    await next();
    [isAnswering, denial] = [false, denied];
    void tokens.check();
    await vi.waitFor(() => expect(tokens.denial).toBe('you are in no team'));
    expect(told).toHaveBeenCalledOnce();
    isAnswering = true;
    expect([await next(), renewals]).toEqual(['none', 2]);
    expect(leave).not.toHaveBeenCalled();
  });

  it('are looked at before they end when somebody asks for it', async () => {
    secondsLeft = 300;
    await next();
    signedIn = me('bob', 'north');
    expect(await next()).toBe('ada north');
    await Promise.race([tokens.check(), new Promise((resolve) => setTimeout(resolve, 50))]);
    expect(tokens.other).toMatchObject({ id: 'bob' });
  });

  it('end at the sign-in when the session is over', async () => {
    signedIn = undefined;
    expect(await next()).toBe('none');
    expect(leave).toHaveBeenCalledOnce();
  });
});
