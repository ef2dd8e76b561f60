import { describe, expect, it } from 'vitest';
import type { Router } from '../../../client/browser.ts';
import { nextStepsOf } from '../../../console/src/pages/fleet/router/next-steps.ts';
import { wordOf } from '../../../console/src/parts/state-words.ts';
import { ROUTER_REASONS } from '../../../protocol/index.ts';

const likely = (reason: string): string | undefined =>
  nextStepsOf({ id: 'r', state: 'not_answering', state_reason: reason, agent_id: 'a' } as unknown as Router, [])?.likely;

describe('why a router does not answer', () => {
  it.each(ROUTER_REASONS.filter((reason) => reason !== 'unknown'))('%s has a cause of its own', (reason) => {
    expect(likely(reason)).not.toBe(likely('unknown'));
  });

  it.each([
    ['ssh_refused', 'SSH', 'API'],
    ['refused', 'API', 'SSH'],
  ])('%s names the service that refused, and no other', (reason, service, other) => {
    expect(wordOf(reason)).toBe(`${service} refused the connection`);
    expect(likely(reason)).toContain(service);
    expect(likely(reason)).not.toContain(other);
  });
});
