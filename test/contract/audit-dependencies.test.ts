import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { judgeAudit, readDecisions } from '../../scripts/audit/judge.ts';

const advisory = {
  name: 'left-pad',
  title: 'It pads',
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  severity: 'high',
  range: '<2',
};
const report = JSON.stringify({ vulnerabilities: { 'left-pad': { via: [advisory] }, upper: { via: ['left-pad'] } } });
const decision = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'left-pad',
  decision: 'not affected' as const,
  reason: 'nothing here pads to the left',
  until: '2031-05-01',
};

test('a finding without a decision fails', () => {
  const { isFine, lines } = judgeAudit(report, []);
  expect(isFine).toBe(false);
  expect(lines).toContain('  GHSA-aaaa-bbbb-cccc left-pad <2 (high): It pads');
});

test('a decided one does not, until its day has come', () => {
  expect(judgeAudit(report, [decision], '2031-05-01')).toMatchObject({ isFine: true });
  expect(judgeAudit(report, [decision], '2031-05-02')).toMatchObject({ isFine: false });
  expect(judgeAudit(report, [{ ...decision, package: 'other' }], '2031-05-01')).toMatchObject({ isFine: false });
});

test('one advisory about two packages needs a decision for each', () => {
  const other = { ...advisory, name: 'right-pad' };
  for (const vulnerabilities of [
    { 'left-pad': { via: [advisory] }, 'right-pad': { via: [other] } },
    { 'right-pad': { via: [other] }, 'left-pad': { via: [advisory] } },
  ]) {
    const { isFine, lines } = judgeAudit(JSON.stringify({ vulnerabilities }), [decision], '2031-05-01');
    expect(isFine).toBe(false);
    expect(lines).toContain('  GHSA-aaaa-bbbb-cccc right-pad <2 (high): It pads');
  }
});

test('a report that names a weakness in a form that cannot be read fails', () => {
  const { range: _range, ...incomplete } = advisory;
  const unreadable = [
    { vulnerabilities: { 'left-pad': { via: [incomplete] } } },
    { vulnerabilities: { 'left-pad': {} } },
    { advisories: { 1: advisory }, metadata: { vulnerabilities: { total: 1 } } },
    { vulnerabilities: {}, metadata: { vulnerabilities: { total: 1 } } },
  ];
  for (const answer of unreadable) {
    const { isFine, lines } = judgeAudit(JSON.stringify(answer), [decision]);
    expect(isFine, lines.join()).toBe(false);
    expect(lines[0]).toMatch(/^dependencies: the report of npm audit cannot be read: /);
  }
});

test('nothing found is fine, and a decision that is not needed is named', () => {
  expect(judgeAudit('{"auditReportVersion":2,"vulnerabilities":{},"metadata":{"vulnerabilities":{"total":0}}}', [decision]).lines).toEqual([
    'dependencies: 0 advisories, 0 without a decision that holds today',
    '  GHSA-aaaa-bbbb-cccc left-pad is decided and not found any more: remove it',
  ]);
});

test.each([
  [
    'a registry without advisories, as npm reports it',
    JSON.stringify({
      message: '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
      method: 'POST',
      uri: 'https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
      headers: { allow: ['GET,HEAD'], 'content-length': ['0'], 'x-fetch-attempts': ['1'] },
      statusCode: 405,
      body: '',
      error: { summary: '', detail: '' },
    }),
    '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
  ],
  ['no registry', 'npm error code ENOTFOUND', 'npm error code ENOTFOUND'],
  ['no npm', '', 'no answer'],
])('%s is told and is no failure', (_name, output, reason) => {
  expect(judgeAudit(output, [])).toEqual({
    isFine: true,
    lines: [`dependencies: NOT CHECKED, the registry does not tell of advisories: ${reason}`],
  });
});

test('the decisions of the repository can be read, and each says why', async () => {
  const json = await readFile(new URL('../../docs/security/advisories.json', import.meta.url), 'utf8');
  expect(readDecisions(json)).toBeInstanceOf(Array);
  expect(() => readDecisions(JSON.stringify([{ ...decision, reason: '' }]))).toThrow();
});

test('continuous integration asks before it tests', async () => {
  const script = await readFile(new URL('../../.ci/run', import.meta.url), 'utf8');
  expect(script.indexOf('audit:dependencies\n')).toBeGreaterThan(0);
  // Settings of the run may stand before the command.
  expect(script.indexOf('audit:dependencies\n')).toBeLessThan(script.search(/^(?:\w+=\S+ )*npm test$/mu));
});
