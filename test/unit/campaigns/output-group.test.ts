import { describe, expect, it } from 'vitest';
import { campaignOfKey, jobKey } from '../../../server/work/campaigns/job-key.ts';
import { normaliseOutput, outputHash } from '../../../server/work/campaigns/output-group.ts';

const said = (output: string | null, some: { error?: string; reason?: string } = {}) =>
  outputHash({ output, error: some.error ?? null, reason: some.reason ?? null });

describe('the output of two routers', () => {
  it.each([
    ['line ends', 'a\r\nb\r\n', 'a\nb'],
    ['blanks at line ends', 'a  \nb\t\n\n', 'a\nb'],
    ['empty lines in front', '\n\na', 'a'],
    ['nothing and blank space', '', ' \n'],
    [
      'the head of an export of RouterOS 7',
      '# 2031-05-01 08:30:00 by RouterOS 7.18.2\n# software id = ABCD-EFGH\n#\n/ip dns\nset a=b',
      '# 2031-05-02 09:31:07 by RouterOS 7.18.2\n# software id = WXYZ-1234\n#\n/ip dns\nset a=b',
    ],
    [
      'the head of an export of RouterOS 6',
      '# may/01/2031 08:30:00 by RouterOS 6.49.10\n# serial number = 1\n/ip dns',
      '# may/02/2031 08:30:00 by RouterOS 6.49.10\n# serial number = 2\n/ip dns',
    ],
  ])('is the same but for %s', (_name, one, two) => {
    expect(said(one)).toBe(said(two));
  });

  it.each([
    ['blanks in front, which say how things belong together', 'a\n b', 'a\nb'],
    ['letters in another case', 'A', 'a'],
    ['another comment', '# one', '# two'],
  ])('differs by %s', (_name, one, two) => {
    expect(said(one)).not.toBe(said(two));
  });

  it('differs by error and reason', () => {
    expect(new Set([said('a'), said('a', { error: 'no' }), said('a', { reason: 'script_error' }), said('a', { reason: 'no' })]).size).toBe(
      4,
    );
  });

  it('keeps what is between the lines', () => {
    expect(normaliseOutput('a\n\n  b  \n')).toBe('a\n\n  b');
  });
});

describe('the key of a job', () => {
  it('leads back to the campaign, and no caller could have chosen it', () => {
    expect(campaignOfKey(jobKey('c', 'r'))).toBe('c');
    expect(jobKey('c', 'r')).toMatch(/ /);
    expect(campaignOfKey('campaign-c-r')).toBeUndefined();
    expect(campaignOfKey('mine')).toBeUndefined();
  });
});
