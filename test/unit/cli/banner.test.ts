import { describe, expect, it } from 'vitest';
import { banner } from '../../../server/cli/banner.ts';

describe('the banner of serve', () => {
  const started = { publicUrl: 'http://127.0.0.1:8080', sandboxUrl: 'http://127.0.0.1:8081', setupLink: undefined, unbuilt: [] };

  it('says which address is for people, and what the other one is', () => {
    const text = banner(started);
    expect(text).toMatch(/Open in a browser +http:\/\/127[.]0[.]0[.]1:8080\n/);
    expect(text).toMatch(/For programs only +http:\/\/127[.]0[.]0[.]1:8081 [^]*no page/);
    expect(text).not.toContain('signalbox user create');
    expect(banner({ ...started, sandboxUrl: null })).not.toContain('For programs');
  });

  it('names what a clone has not built, and the command for it', () => {
    expect(banner(started)).not.toContain('npm run');
    const unbuilt = [{ part: 'the web application', command: 'npm run build:console' }];
    expect(banner({ ...started, unbuilt })).toMatch(/lacks some parts[^]*npm run build:console +the web application\n/);
  });

  it('says how the first account is made, while there is none', () => {
    expect(banner({ ...started, setupLink: 'http://127.0.0.1:8080/setup/CODE' })).toMatch(
      /  http:\/\/127[.]0[.]0[.]1:8080\/setup\/CODE\n[^]*npx signalbox team create Example\n +npx signalbox user create \S+ --team Example --role admin \\\n +--installation-admin\n/,
    );
  });
});
